// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the meters of {@link LockMetrics} for each way in which an acquire and a lease end. */
class LockMetricsTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);

    private final ManualClock clock = new ManualClock();
    private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, RegistryClock.of(clock));
    private final MemoryStore store = MemoryStore.create(clock);
    private final MemoryFaults faults = store.faults();
    private final LockClient client = MemoryLocks.connect(store, DIRECT.listener(LockMetrics.of(registry)));
    private final LockClient other = MemoryLocks.connect(store, DIRECT);
    private final DistributedLock lock = client.named("x");

    @AfterEach
    void gaugesReturnToZero() {
        faults.heal();
        clock.advance(Duration.ofSeconds(2)); // for cleanups that wait for their next try
        client.close();
        other.close();
        clock.advance(Duration.ofMinutes(1));
        assertThat(gauge("mortise.lock.waiting")).as("waiting").isZero();
        assertThat(gauge("mortise.lock.held")).as("held").isZero();
    }

    private double gauge(String name) {
        return registry.get(name).tag("backend", "memory").gauge().value();
    }

    private Timer timer(String name, String outcome) {
        return registry.get(name).tags("backend", "memory", "outcome", outcome).timer();
    }

    private double lost(String reason) {
        return registry.get("mortise.lock.lost").tag("reason", reason).counter().count();
    }

    private double allLost() {
        return registry.get("mortise.lock.lost").counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    /** Checks that one acquire has ended with the outcome, after the given time, and no other. */
    private void assertOnlyAcquire(String outcome, Duration time) {
        assertThat(registry.get("mortise.lock.acquire").timers().stream()
                        .mapToLong(Timer::count)
                        .sum())
                .isOne();
        assertThat(timer("mortise.lock.acquire", outcome).totalTime(TimeUnit.NANOSECONDS))
                .isEqualTo((double) time.toNanos());
        assertThat(timer("mortise.lock.acquire", outcome).count()).isOne();
        assertThat(gauge("mortise.lock.waiting")).isZero();
    }

    @Test
    void aGrantAndARelease() throws Exception {
        Lease lease = lock.acquire();
        assertOnlyAcquire("granted", Duration.ZERO);
        assertThat(gauge("mortise.lock.held")).isOne();
        clock.advance(Duration.ofSeconds(7));
        lease.release();
        assertThat(gauge("mortise.lock.held")).isZero();
        assertThat(timer("mortise.lock.hold", "released").totalTime(TimeUnit.SECONDS))
                .isEqualTo(7);
        assertThat(allLost()).isZero();
    }

    @Test
    void aWaitIsCountedUntilItsGrant() throws Exception {
        Lease first = other.named("x").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        assertThat(gauge("mortise.lock.waiting")).isOne();
        clock.advance(Duration.ofSeconds(4));
        first.release();
        assertOnlyAcquire("granted", Duration.ofSeconds(4));
        waiting.join();
        assertThat(gauge("mortise.lock.held")).isOne();
    }

    @Test
    void S09_aBoundedWaitThatEndsBusy() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Optional<Lease>> waiting = lock.tryAcquireAsync(Duration.ofSeconds(3));
        clock.advance(Duration.ofSeconds(3));
        assertThat(waiting.join()).isEmpty();
        assertOnlyAcquire("busy", Duration.ofSeconds(3));
    }

    @Test
    void S10_aWithdrawal() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        clock.advance(Duration.ofSeconds(2));
        waiting.cancel(false);
        assertOnlyAcquire("withdrawn", Duration.ofSeconds(2));
    }

    @Test
    void S15_aFailure() {
        faults.refuse();
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(BackendUnavailableException.class);
        assertOnlyAcquire("failed", Duration.ZERO);
    }

    @Test
    void S16_aClosedClient() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        client.close();
        assertThat(waiting).isCompletedExceptionally();
        assertOnlyAcquire("failed", Duration.ZERO);
    }

    @Test
    void S16_aLeaseThatTheCloseEnds() throws Exception {
        lock.acquire();
        client.close();
        assertThat(lost("client_closed")).isOne();
        assertThat(allLost()).isOne();
    }

    @Test
    void S07_aLoss() throws Exception {
        lock.acquire();
        assertThat(registry.get("mortise.lock.lost").counters())
                .as("each reason exists before the first loss")
                .hasSize(5);
        clock.advance(Duration.ofSeconds(3));
        faults.remove("x");
        assertThat(lost("removed")).isOne();
        assertThat(allLost()).isOne();
        assertThat(timer("mortise.lock.hold", "lost").totalTime(TimeUnit.SECONDS))
                .isEqualTo(3);
        client.named("y", LockOptions.defaults().maxHold(Duration.ofSeconds(1))).acquire();
        clock.advance(Duration.ofSeconds(1));
        assertThat(lost("max_hold")).isOne();
        lock.acquire();
        faults.freeze();
        clock.advance(Duration.ofMinutes(1));
        assertThat(lost("expired")).isOne();
    }

    @Test
    void S05_aLossThatTheReleaseFinds() throws Exception {
        Lease lease = lock.acquire();
        faults.expireUnnoticed("x");
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(lost("removed")).isOne();
        assertThat(timer("mortise.lock.hold", "lost").count()).isOne();
    }

    @Test
    void S05_aReleaseWithoutAReply() throws Exception {
        Lease lease = lock.acquire();
        faults.freeze();
        lease.releaseAsync();
        clock.advance(DIRECT.requestTimeout());
        assertThat(timer("mortise.lock.hold", "unknown").count()).isOne();
        assertThat(allLost()).isZero();
    }

    @Test
    void aRenewalMeasuresTheShareOfTheLeaseThatWasLeft() throws Exception {
        lock.acquire();
        clock.advance(Duration.ofSeconds(10));
        DistributionSummary renewals = registry.get("mortise.lease.renewal").summary();
        assertThat(renewals.count()).isOne();
        assertThat(renewals.totalAmount()).isCloseTo(65.66, within(0.01));
    }

    @Test
    void aNameIsATagOnlyByTheApplicationsMapping() throws Exception {
        lock.acquire();
        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().getTag("lock")).isNull());
        MeterRegistry mapped = new SimpleMeterRegistry();
        LockMetrics byKind = LockMetrics.of(mapped, name -> name.substring(0, name.indexOf('/')));
        try (LockClient tagged = MemoryLocks.connect(store, DIRECT.listener(byKind))) {
            tagged.named("order/1").acquire();
            int meters = mapped.getMeters().size();
            tagged.named("order/2").acquire();
            assertThat(mapped.getMeters()).as("no meters for an id").hasSize(meters);
            tagged.named("invoice/1").acquire();
            tagged.named("not-mapped").acquire().release(); // the mapping throws: only the measurement is missing
            assertThat(mapped.getMeters())
                    .hasSize(2 * meters)
                    .extracting(Meter::getId)
                    .extracting(id -> id.getTag("lock"))
                    .containsOnly("order", "invoice");
            assertThat(mapped.get("mortise.lock.held")
                            .tag("lock", "order")
                            .gauge()
                            .value())
                    .isEqualTo(2);
        }
        assertThat(mapped.get("mortise.lock.held").gauges())
                .allSatisfy(gauge -> assertThat(gauge.value()).isZero());
    }

    @Test
    void S02_anElectionCountsItsChangesAndShowsWhoLeads() throws Exception {
        assertThat(registry.find("mortise.election.leading").gauge())
                .as("without an election")
                .isNull();
        BlockingQueue<Term> terms = new LinkedBlockingQueue<>();
        Election election = Election.on(lock)
                .pauseAfterTerm(Duration.ofMillis(1))
                .run(term -> {
                    terms.add(term);
                    new CountDownLatch(1).await();
                });
        terms.take();
        Election waiting = Election.on(lock).run(term -> {});
        while (gauge("mortise.election.candidates") < 2) {
            Thread.onSpinWait();
        }
        assertThat(gauge("mortise.election.leading")).isOne();
        assertThat(changes()).isOne();
        waiting.close();
        assertThat(gauge("mortise.election.candidates")).isOne();
        faults.freeze();
        clock.advanceWithoutTimers(Duration.ofSeconds(31));
        assertThat(gauge("mortise.election.leading"))
                .as("before any callback has run")
                .isZero();
        faults.heal();
        clock.advanceThenRunTimers(Duration.ZERO);
        Term next = terms.take();
        assertThat(changes()).isEqualTo(2);
        assertThat(gauge("mortise.election.leading")).isOne();
        CompletableFuture<Lease> successor = other.named("x").acquireAsync(); // else this candidate leads again at once
        next.resign();
        assertThat(gauge("mortise.election.leading")).isZero();
        successor.get(30, TimeUnit.SECONDS).release();
        election.close();
        assertThat(gauge("mortise.election.candidates")).isZero();
    }

    private double changes() {
        return registry.get("mortise.election.changes").counter().count();
    }

    @Test
    void anElectionHasTheTagOfTheApplicationsMapping() throws Exception {
        MeterRegistry mapped = new SimpleMeterRegistry();
        LockMetrics byKind = LockMetrics.of(mapped, name -> name.substring(0, name.indexOf('/')));
        try (LockClient tagged = MemoryLocks.connect(store, DIRECT.listener(byKind))) {
            CountDownLatch led = new CountDownLatch(2);
            try (Election one = Election.on(tagged.named("tenant/1")).run(term -> led.countDown());
                    Election two = Election.on(tagged.named("tenant/2")).run(term -> led.countDown())) {
                led.await();
                assertThat(one.isRunning() && two.isRunning()).isTrue();
                assertThat(mapped.get("mortise.election.candidates")
                                .tags("backend", "memory", "lock", "tenant")
                                .gauge()
                                .value())
                        .isEqualTo(2);
            }
            assertThat(mapped.get("mortise.election.candidates").gauge().value())
                    .isZero();
        }
        lock.acquire().release();
    }

    @Test
    void clientsShareTheMetersOfOneListener() throws Exception {
        MeterRegistry both = new SimpleMeterRegistry();
        LockMetrics shared = LockMetrics.of(both);
        try (LockClient a = MemoryLocks.connect(store, DIRECT.listener(shared));
                LockClient b = MemoryLocks.connect(store, DIRECT.listener(shared))) {
            a.named("a").acquire();
            b.named("b").acquire();
            assertThat(both.get("mortise.lock.held").gauge().value()).isEqualTo(2);
        }
        assertThat(both.get("mortise.lock.held").gauge().value()).isZero();
        lock.acquire().release();
    }
}
