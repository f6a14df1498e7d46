// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** Says of a grant what an honest validity says of it, its deadline perhaps moved. */
final class ForwardingGrantValidity extends GrantValidity {
    final GrantValidity honest;

    private ForwardingGrantValidity(
            LockClock clock, GrantValidity honest, Duration renewEvery, UnaryOperator<MonotonicTime> deadline) {
        super(clock, renewEvery, deadline.apply(honest.validUntil()));
        this.honest = honest;
    }

    static ForwardingGrantValidity of(
            LockClock clock,
            GrantValidity honest,
            Duration renewEvery,
            UnaryOperator<MonotonicTime> deadline,
            ForwardingBackend by) {
        ForwardingGrantValidity made = new ForwardingGrantValidity(clock, honest, renewEvery, deadline);
        boolean attached = honest.attach(new Listener() {
            @Override
            public void extended() {
                made.extend(deadline.apply(honest.validUntil()));
            }

            @Override
            public void unknown(Throwable cause) {
                by.renewalUnknown(made, cause);
            }

            @Override
            public void lost(LossReason reason) {
                by.renewalLost(made, reason);
            }
        });
        if (!attached) {
            made.lost(honest.reason().orElseThrow());
        }
        return made;
    }
}
