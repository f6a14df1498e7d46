// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Contract that many names leave nothing in the store, nor threads (S17). */
interface LeftoversContract extends Contract {
    int NAMES = 500;

    @Test
    default void S17_waitersOnManyNamesLeaveNothing() throws Exception {
        ClientOptions longTimeouts = ClientOptions.defaults().unavailableAfter(ContractFixture.LONG); // so many at once
        LockClient holder = fixture().client(longTimeouts);
        LockClient waiter = fixture().client(longTimeouts);
        holder.named("warm").run(lease -> waiter.named("warm").tryAcquire()); // starts what is started once
        int threads = threads();
        List<CompletableFuture<Lease>> holding = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            holding.add(holder.named("many/" + i).acquireAsync());
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> one : holding) {
            held.add(ApiStyle.result(one));
        }
        List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            waiting.add(waiter.named("many/" + i).tryAcquireAsync(ContractFixture.LONG));
        }
        assertThat(threads())
                .as("threads with %d leases and %d waiters", NAMES, NAMES)
                .isLessThan(threads + 50);
        // A third is cancelled, a third ended by its caller, the rest granted.
        for (int i = 0; i < NAMES; i++) {
            switch (i % 3) {
                case 0 -> waiting.get(i).cancel(true);
                case 1 -> waiting.get(i).complete(Optional.empty());
                default -> {}
            }
            held.get(i).releaseAsync();
        }
        for (int i = 2; i < NAMES; i += 3) {
            ApiStyle.result(waiting.get(i)).orElseThrow().releaseAsync();
        }
        if (holder.capabilities().contains(Capability.LIST)) {
            LockAdmin admin = ContractFixture.admin(holder, "S17");
            ContractFixture.eventually(
                    "no lock is left",
                    ContractFixture.PROMPT.multipliedBy(2),
                    () -> ContractFixture.await(admin.list("", 10_000, ""))
                            .locks()
                            .isEmpty());
        }
        for (int i = 0; i < NAMES; i += 50) {
            fixture().assertFree(holder, "many/" + i);
        }
        assertThat(threads()).as("threads afterwards").isLessThan(threads + 50);
    }

    /** Those of a server in this JVM and of other tests included: the bound is wide, and far below one for each name. */
    private static int threads() {
        return Thread.getAllStackTraces().size();
    }
}
