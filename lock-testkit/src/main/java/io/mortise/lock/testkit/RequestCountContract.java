// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that lock operations send no more requests than the rules allow. Needs {@link BackendUnderTest#requests}. */
interface RequestCountContract extends Contract {
    /** Time without requests after which the store counts as quiet; longer than the gaps between requests on a busy machine. */
    Duration QUIET_PERIOD = Duration.ofMillis(500);

    /** Number of renewals that the three clients may send during the quiet period. */
    int RENEWALS = 2;

    int WAITERS = 30;

    Duration SILENCE = Duration.ofSeconds(2);

    /**
     * Number of requests that each waiter may send during {@link #SILENCE}. If the store does not announce expired leases, a
     * waiter sends a request when the holder's lease would expire, about once per renewal or two; polling sends far more.
     */
    int REQUESTS_PER_WAITER = 2;

    /** Limit for one acquire or hand-over; far below what polling, or a cost per waiter, would need. */
    int FEW_REQUESTS = 8;

    @Test
    @ResourceLock(Contract.SERVER)
    default void S02_isHeldSendsNoRequest() throws Exception {
        try (Lease lease = fixture().client().named("x").acquire()) {
            long before = quiet("S02 on the wire");
            for (int i = 0; i < 10_000; i++) {
                assertThat(lease.isHeld()).isTrue();
                lease.ensureHeld();
                assertThat(lease.remaining()).isPositive();
            }
            // Not zero: a backend may still register a watch for its new grant.
            assertThat(requests("S02 on the wire") - before)
                    .as("requests of 10,000 checks")
                    .isLessThanOrEqualTo(FEW_REQUESTS);
        }
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S09_oneAttemptSendsFewRequests() throws Exception {
        DistributedLock lock = fixture().client().named("x");
        try (Lease held = fixture().client().named("x").acquire()) {
            long before = quiet("S09 on the wire");
            for (int i = 0; i < 10; i++) {
                assertThat(lock.tryAcquire()).isEmpty();
            }
            long sent = quiet("S09 on the wire") - before;
            assertThat(sent).as("requests of 10 attempts").isLessThanOrEqualTo(10 * FEW_REQUESTS);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S11_waitersDoNotPollAndHandOversTakeFewRequests() throws Exception {
        List<LockClient> clients =
                List.of(fixture().client(), fixture().client(), fixture().client());
        ContractTestFixture.onlyIf(clients.get(0), Capability.PUSH);
        Lease held = clients.get(0).named("x").acquire();
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(
                    clients.get(i % clients.size()).named("x").acquireAsync().thenCompose(Lease::releaseAsync));
        }
        long before = quiet("S11 on the wire");
        ContractTestFixture.letPass("the waiters had time to send requests", SILENCE);
        assertThat(requests("S11 on the wire") - before)
                .as("requests of %d waiters in %s", WAITERS, SILENCE)
                .isLessThanOrEqualTo(WAITERS * REQUESTS_PER_WAITER);
        before = requests("S11 on the wire");
        held.release();
        ApiStyle.awaitAll(waiting);
        assertThat(quiet("S11 on the wire") - before)
                .as("requests of one release and %d hand-overs", WAITERS)
                .isLessThanOrEqualTo((WAITERS + 1L) * FEW_REQUESTS);
    }

    private long requests(String rule) {
        return fixture().requests(rule);
    }

    /** Returns the request count once only renewals are sent, or after a time limit if requests never stop. */
    private long quiet(String rule) throws Exception {
        long limit = System.nanoTime() + QUIET_PERIOD.multipliedBy(20).toNanos();
        long calm = System.nanoTime();
        long last = requests(rule);
        while (System.nanoTime() - calm < QUIET_PERIOD.toNanos() && System.nanoTime() - limit < 0) {
            LockSupport.parkNanos(5_000_000);
            long now = requests(rule);
            if (now - last > RENEWALS) {
                last = now;
                calm = System.nanoTime();
            }
        }
        return requests(rule);
    }
}
