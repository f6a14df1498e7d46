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

/** Contract of the number of requests, by the store's own count. Needs {@link BackendUnderTest#requests}. */
interface RequestCountContract extends Contract {
    /** Longer than a busy machine takes between two of many requests. */
    Duration CALM = Duration.ofMillis(500);

    /** Of the three clients, while it is calm. */
    int RENEWALS = 2;

    int WAITERS = 30;

    Duration SILENCE = Duration.ofSeconds(2);

    /**
     * Of each waiter in that time. Where the store tells nobody that a lease has run out, they ask when it would have, that is
     * once for each renewal or two; whoever polls asks far more often.
     */
    int LOOKS = 2;

    /** Generous for one acquire or hand-over; far below what grows with the number of waiters, or polls. */
    int A_FEW = 8;

    @Test
    default void S02_isHeldAsksNobody() throws Exception {
        try (Lease lease = fixture().client().named("x").acquire()) {
            long before = quiet("S02 on the wire");
            for (int i = 0; i < 10_000; i++) {
                assertThat(lease.isHeld()).isTrue();
                lease.ensureHeld();
                assertThat(lease.remaining()).isPositive();
            }
            // Not zero: a backend may still watch over its new grant.
            assertThat(requests("S02 on the wire") - before)
                    .as("requests of 10,000 checks")
                    .isLessThanOrEqualTo(A_FEW);
        }
    }

    @Test
    default void S09_oneAttemptIsAFewRequests() throws Exception {
        DistributedLock lock = fixture().client().named("x");
        try (Lease held = fixture().client().named("x").acquire()) {
            long before = quiet("S09 on the wire");
            for (int i = 0; i < 10; i++) {
                assertThat(lock.tryAcquire()).isEmpty();
            }
            long asked = quiet("S09 on the wire") - before;
            assertThat(asked).as("requests of 10 attempts").isLessThanOrEqualTo(10 * A_FEW);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    default void S11_waitersAreSilentAndHandOversAreCheap() throws Exception {
        List<LockClient> clients =
                List.of(fixture().client(), fixture().client(), fixture().client());
        ContractFixture.onlyIf(clients.get(0), Capability.PUSH);
        Lease held = clients.get(0).named("x").acquire();
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(
                    clients.get(i % clients.size()).named("x").acquireAsync().thenCompose(Lease::releaseAsync));
        }
        long before = quiet("S11 on the wire");
        ContractFixture.eventually("they had time to ask", ContractFixture.LONG, ContractFixture.timePasses(SILENCE));
        assertThat(requests("S11 on the wire") - before)
                .as("requests of %d waiters in %s", WAITERS, SILENCE)
                .isLessThanOrEqualTo(WAITERS * LOOKS);
        before = requests("S11 on the wire");
        held.release();
        for (CompletableFuture<?> one : waiting) {
            ApiStyle.result(one);
        }
        assertThat(quiet("S11 on the wire") - before)
                .as("requests of one release and %d hand-overs", WAITERS)
                .isLessThanOrEqualTo((WAITERS + 1L) * A_FEW);
    }

    private long requests(String rule) {
        return fixture().requests(rule);
    }

    /** The count once hardly anything is asked any more, renewals apart, or after a while if somebody always asks. */
    private long quiet(String rule) throws Exception {
        long limit = System.nanoTime() + CALM.multipliedBy(20).toNanos();
        long calm = System.nanoTime();
        long last = requests(rule);
        while (System.nanoTime() - calm < CALM.toNanos() && System.nanoTime() - limit < 0) {
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
