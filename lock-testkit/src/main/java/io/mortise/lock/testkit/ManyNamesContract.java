// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that the use of many lock names leaves no data in the store, no extra threads and no extra connections. Rule S17. */
interface ManyNamesContract extends Contract {
    int NAMES = 500;

    /** Limit of the threads that two clients start for all these names; generous, but far below one thread per name. */
    int MAX_THREADS = 50;

    @Test
    default void S17_manyCyclesNeedNoMoreConnections() throws Exception {
        LockClient client = fixture().client();
        useLock(client);
        // A pool may grow with the requests that are under way at the same time.
        int most = fixture().faultInjector().openConnections(client, "S17 for connections")
                + BackendContext.BLOCKING_CALLS;
        for (int i = 0; i < 40; i++) {
            useLock(client);
        }
        // Not at once: a connection that broke and was opened again counts twice for a moment.
        ContractTestFixture.eventually(
                "S17: the client has at most " + most + " connections",
                ContractTestFixture.LONG,
                () -> fixture().faultInjector().openConnections(client, "S17 for connections") <= most);
    }

    /** Acquires the lock, waits for it in vain and cancels a wait for it. */
    private static void useLock(LockClient client) throws Exception {
        client.named("x").run(held -> {
            ContractTestFixture.assertWaitFails(ApiStyle.SYNC, client.named("x"), Duration.ofMillis(10));
            client.named("x").acquireAsync().cancel(true);
        });
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S17_waitersOnManyNamesLeaveNothing() throws Exception {
        ClientThreadCounter.run(this::useManyNames);
    }

    private void useManyNames(ClientThreadCounter threads) throws Exception {
        // Many requests are pending at once.
        ClientOptions longTimeouts = ClientOptions.defaults().unavailableAfter(ContractTestFixture.LONG);
        LockClient holder = fixture().client(longTimeouts);
        LockClient waiter = fixture().client(longTimeouts);
        // Starts the threads that each client starts only once.
        holder.named("warm").run(lease -> waiter.named("warm").tryAcquire());
        threads.remember();
        List<Lease> held = fixture().acquireAll(holder, "many/", NAMES, LockOptions.defaults());
        List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            waiting.add(waiter.named("many/" + i).tryAcquireAsync(ContractTestFixture.LONG));
        }
        assertThat(threads.started())
                .as("S17: threads that the clients started for %d leases and %d waiters", NAMES, NAMES)
                .hasSizeLessThan(MAX_THREADS);
        // One third is cancelled, one third is completed by its caller, the rest is granted.
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
            LockAdmin admin = ContractTestFixture.admin(holder, "S17");
            ContractTestFixture.eventually(
                    "the list of locks is empty",
                    ContractTestFixture.PROMPT.multipliedBy(2),
                    () -> ContractTestFixture.await(admin.list("", 10_000, ""))
                            .locks()
                            .isEmpty());
        }
        for (int i = 0; i < NAMES; i += 50) {
            fixture().assertFree(holder, "many/" + i);
        }
        assertThat(threads.started())
                .as("S17: threads that the clients still run after %d leases and %d waiters", NAMES, NAMES)
                .hasSizeLessThan(MAX_THREADS);
    }
}
