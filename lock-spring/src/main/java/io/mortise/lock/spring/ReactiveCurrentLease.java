// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.Lease;
import reactor.core.publisher.Mono;

/** Gives the operators in the {@code Mono} or {@code Flux} of a {@link Locked} method its lease. Needs Reactor. */
public final class ReactiveCurrentLease {
    private ReactiveCurrentLease() {}

    /**
     * Returns the lease of the innermost {@link Locked} method in whose publisher the result is subscribed to. It fails with
     * {@link IllegalStateException} if there is none.
     */
    public static Mono<Lease> get() {
        return Mono.deferContextual(context -> ReactiveLocked.current(context)
                .map(Mono::just)
                .orElseGet(() -> Mono.error(new IllegalStateException(
                        "the subscription is not inside the publisher of a @Locked method"))));
    }
}
