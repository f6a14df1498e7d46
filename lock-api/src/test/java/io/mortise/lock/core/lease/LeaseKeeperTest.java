// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.core.client.NoopBackend;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests the renewal schedule and the deadlines of many leases, on a manual clock. */
class LeaseKeeperTest {
    private static final Duration PERIOD = Duration.ofSeconds(10);

    private final ManualClock clock = new ManualClock();
    private final LastResponse lastResponse = new LastResponse(clock);
    private final LeaseKeeper keeper = new LeaseKeeper(
            clock, lastResponse, new RenewalLog(clock, new ThrottledLog(clock)), Duration.ofSeconds(1), new Random(1));
    private final List<List<GrantValidity>> renewals = new ArrayList<>();

    private final class Grant extends GrantValidity {
        Grant() {
            this(PERIOD.multipliedBy(3));
        }

        Grant(Duration left) {
            super(clock, PERIOD, clock.now().plus(left));
        }

        void renewed() {
            extend(clock.now().plus(PERIOD.multipliedBy(3)));
        }
    }

    private void startRenewing(Consumer<Grant> how) {
        keeper.start(new NoopBackend("test") {
            @Override
            public Contender enqueue(LockRequest request, ContenderListener listener) {
                throw new UnsupportedOperationException();
            }

            @Override
            public void renew(List<GrantValidity> due) {
                renewals.add(due);
                due.forEach(each -> how.accept((Grant) each));
            }
        });
    }

    @Test
    void S07_selectedGrantsAreRenewedNowInOneBatchAndThenPeriodically() {
        startRenewing(Grant::renewed);
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Grant grant = new Grant();
            grants.add(grant);
            assertThat(keeper.hold(grant)).isTrue();
        }
        clock.advance(Duration.ofSeconds(1));
        keeper.renewNow(validity -> validity != grants.get(0));
        clock.advance(Duration.ZERO);
        assertThat(renewals).containsExactly(List.copyOf(grants.subList(1, 1_000)));
        clock.advance(PERIOD.minusMillis(1_001)); // until just before the grant that was not selected is due
        clock.advance(Duration.ofMillis(1));
        assertThat(renewals.get(1)).contains(grants.get(0));
        assertThat(keeper.size()).isEqualTo(1_000);
    }

    @Test
    void leasesAcquiredAtDifferentTimesAreRenewedInFewRequests() {
        startRenewing(grant -> clock.schedule(Duration.ofMillis(3), grant::renewed));
        Random random = new Random(1);
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            clock.advance(Duration.ofMillis(random.nextInt(20)));
            Grant grant = new Grant();
            grants.add(grant);
            assertThat(keeper.hold(grant)).isTrue();
        }
        clock.advance(PERIOD);
        renewals.clear();
        clock.advance(PERIOD.multipliedBy(10));
        assertThat(renewals).hasSizeLessThanOrEqualTo(100);
        assertThat(grants).allMatch(GrantValidity::isValid);
        grants.forEach(keeper::unhold);
        assertThat(keeper.size()).isZero();
        clock.advance(PERIOD.multipliedBy(3));
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S07_leasesExpireAtTheirDeadlineWhateverRenewDoes() {
        List<Consumer<Grant>> ways = List.of(
                grant -> {}, // does not respond
                grant -> grant.renewalUnknown(new IllegalStateException("no answer")),
                grant -> {
                    throw new IllegalStateException("broken backend");
                });
        for (Consumer<Grant> way : ways) {
            renewals.clear();
            startRenewing(way);
            Grant grant = new Grant();
            assertThat(keeper.hold(grant)).isTrue();
            clock.advance(PERIOD.multipliedBy(3).minusMillis(1));
            assertThat(grant.isValid()).isTrue();
            clock.advance(Duration.ofMillis(1));
            assertThat(grant.reason().orElseThrow().kind()).isEqualTo(LossReason.Kind.EXPIRED);
            assertThat(renewals).hasSizeBetween(5, 40);
            assertThat(keeper.size()).isZero();
            clock.advance(PERIOD.multipliedBy(3));
            assertThat(clock.timerCount()).isZero();
        }
    }

    @Test
    void S07_aFailureWithoutAReadableMessageHidesNoLoss() {
        RuntimeException unreadable = new IllegalStateException() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("for the test");
            }

            @Override
            public String toString() {
                return "for the log";
            }
        };
        startRenewing(grant -> grant.renewalUnknown(unreadable));
        List<Grant> grants = List.of(new Grant(), new Grant());
        grants.forEach(keeper::hold);
        clock.advance(PERIOD.multipliedBy(3));
        assertThat(grants).allSatisfy(grant -> assertThat(grant.reason()).isPresent());
    }

    @Test
    void aRenewalWithoutResponseIsNotRepeatedWithThoseOfOthers() {
        Grant silent = new Grant();
        startRenewing(grant -> {
            if (grant != silent) {
                grant.renewed();
            }
        });
        assertThat(keeper.hold(silent)).isTrue();
        for (int i = 0; i < 20; i++) {
            clock.advance(Duration.ofMillis(600));
            assertThat(keeper.hold(new Grant())).isTrue();
        }
        clock.advance(Duration.ofSeconds(3)); // 15 s in all; renewals are sent from 10 s on, about one per second
        assertThat(renewals.stream().filter(due -> due.contains(silent)).count())
                .isBetween(3L, 7L);
    }

    @Test
    void aSessionIsRenewedWithoutGrantsUntilItIsLost() {
        startRenewing(Grant::renewed);
        Grant session = new Grant();
        keeper.keep(session);
        assertThat(keeper.hold(session)).isTrue();
        keeper.unhold(session);
        clock.advance(PERIOD.multipliedBy(6));
        assertThat(session.isValid()).isTrue();
        assertThat(renewals).hasSizeBetween(5, 7);
        session.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
        assertThat(keeper.size()).isZero();
        assertThat(keeper.hold(session)).isFalse();
        clock.advance(PERIOD.multipliedBy(3));
        assertThat(clock.timerCount()).isZero();
    }

    /** Each new timer may wake a thread, so a lock that is acquired and released repeatedly must not set one each time. */
    @Test
    void aLeaseThatIsSoonReleasedSetsNoNewTimer() {
        AtomicInteger set = new AtomicInteger();
        LockClock counting = new LockClock() {
            @Override
            public MonotonicInstant now() {
                return clock.now();
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                set.incrementAndGet();
                return clock.schedule(delay, task);
            }
        };
        LeaseKeeper counted = new LeaseKeeper(
                counting,
                new LastResponse(clock),
                new RenewalLog(clock, new ThrottledLog(clock)),
                Duration.ofSeconds(1),
                new Random(1));
        for (int i = 0; i < 100; i++) {
            Grant grant = new Grant();
            assertThat(counted.hold(grant)).isTrue();
            counted.unhold(grant);
            clock.advance(Duration.ofMillis(1));
        }
        assertThat(set).hasValue(2);
    }

    @Test
    void S17_stopLeavesNoTimer() {
        startRenewing(Grant::renewed);
        keeper.keep(new Grant());
        assertThat(keeper.hold(new Grant())).isTrue();
        keeper.stop();
        assertThat(clock.timerCount()).isZero();
        assertThat(keeper.hold(new Grant())).isFalse();
    }

    /** Lets many leases expire at once, and records the order in which their listeners are called. */
    private void expireMany(int count, List<String> order) {
        for (int i = 0; i < count; i++) {
            Grant grant = new Grant();
            assertThat(keeper.hold(grant)).isTrue();
            grant.attach(new GrantValidity.Listener() {
                @Override
                public void lost(LossReason reason) {
                    order.add("lost");
                }

                @Override
                public void afterLoss(LossReason reason) {
                    order.add("after");
                }
            });
        }
    }

    @Test
    void S07_allLeasesThatExpireAtOnceAreNotifiedBeforeAnythingIsLoggedOrSent() {
        startRenewing(grant -> {});
        List<String> order = new ArrayList<>();
        expireMany(10_000, order);
        clock.advance(PERIOD.multipliedBy(3));
        assertThat(order).hasSize(20_000);
        assertThat(order.subList(0, 10_000)).containsOnly("lost");
        assertThat(order.subList(10_000, 20_000)).containsOnly("after");
    }

    @Test
    void S07_aPauseOfTheProcessIsDistinguishedFromASilentStore() {
        startRenewing(grant -> {});
        Grant silent = new Grant();
        keeper.hold(silent);
        clock.advance(PERIOD.multipliedBy(3));
        assertThat(silent.reason().orElseThrow().detail()).startsWith("no renewal succeeded");
        Grant paused = new Grant();
        keeper.hold(paused);
        clock.advanceThenRunTimers(PERIOD.multipliedBy(3));
        assertThat(paused.reason().orElseThrow().detail()).startsWith("this process did not run for at least 20.0 s");
        Grant released = new Grant();
        keeper.hold(released);
        clock.advanceWithoutTimers(PERIOD.multipliedBy(4)); // no timer has run before the next call
        assertThat(released.checkDeadline()).isFalse();
        assertThat(released.reason().orElseThrow().detail()).startsWith("this process did not run for at least 39.0 s");
    }

    @Test
    void S07_aPauseCountsFromHalfASecond() {
        startRenewing(grant -> {});
        for (boolean pause : new boolean[] {false, true}) {
            Grant grant = new Grant();
            assertThat(keeper.hold(grant)).isTrue();
            clock.advance(PERIOD.multipliedBy(3).minusMillis(1));
            Duration late = Duration.ofMillis(pause ? 500 : 499);
            clock.advanceWithoutTimers(late.plusMillis(1)); // the next renewal is due together with the deadline
            assertThat(grant.checkDeadline()).isFalse();
            assertThat(grant.reason().orElseThrow().detail())
                    .startsWith(pause ? "this process did not run for at least 0.5 s" : "no renewal succeeded");
            clock.advance(PERIOD.multipliedBy(3));
        }
    }

    @Test
    void S07_theLengthOfAPauseIsThatOfItsLatestTimer() {
        startRenewing(grant -> {});
        Grant first = new Grant();
        assertThat(keeper.hold(first)).isTrue();
        clock.advanceThenRunTimers(PERIOD.multipliedBy(3).plusSeconds(5)); // the deadline is 5 s late
        assertThat(first.reason().orElseThrow().detail()).startsWith("this process did not run for at least 25.0 s");
        Grant second = new Grant();
        assertThat(keeper.hold(second)).isTrue();
        clock.advance(PERIOD.multipliedBy(2));
        clock.advanceThenRunTimers(PERIOD.plusSeconds(2));
        assertThat(second.reason().orElseThrow().detail())
                .as("a later, shorter pause")
                .startsWith("this process did not run for at least 11.0 s");
    }

    @Test
    void S07_aRenewalWithoutResponseIsRetriedSoon() {
        startRenewing(grant -> grant.renewalUnknown(new IllegalStateException("no answer")));
        assertThat(keeper.hold(new Grant())).isTrue();
        clock.advance(PERIOD);
        assertThat(renewals).hasSize(1);
        clock.advance(Duration.ofMillis(50));
        assertThat(renewals).as("the pause has jitter").hasSize(1);
        clock.advance(Duration.ofMillis(10));
        assertThat(renewals).hasSize(2);
        clock.advance(Duration.ofMillis(120));
        assertThat(renewals).hasSize(3);
    }

    @Test
    void S07_anOutageThatEndsASecondBeforeTheDeadlineCostsNoLease() {
        for (long healed = 11; healed <= 29; healed++) {
            MonotonicInstant end = clock.now().plus(Duration.ofSeconds(healed));
            startRenewing(grant -> {
                if (clock.hasPassed(end)) {
                    grant.renewed();
                } else {
                    grant.renewalUnknown(new IllegalStateException("no answer"));
                }
            });
            Grant grant = new Grant();
            assertThat(keeper.hold(grant)).isTrue();
            clock.advance(PERIOD.multipliedBy(3));
            assertThat(grant.isValid()).as("healed after %d s", healed).isTrue();
            keeper.unhold(grant);
        }
    }

    /** As after an outage, when the request that created a session took most of its time. */
    @Test
    void S07_aGrantWithLittleTimeLeftIsRenewedWithinHalfOfIt() {
        startRenewing(Grant::renewed);
        Grant grant = new Grant(PERIOD.dividedBy(10));
        keeper.keep(grant);
        clock.advance(PERIOD.dividedBy(20).minusMillis(1));
        assertThat(renewals).isEmpty();
        clock.advance(Duration.ofMillis(1));
        assertThat(renewals).hasSize(1);
        clock.advance(PERIOD);
        assertThat(renewals).hasSize(2);
        assertThat(grant.isValid()).isTrue();
    }

    @Test
    void S07_thePeriodOfRenewalsCountsFromTheRequest() {
        startRenewing(grant -> clock.schedule(Duration.ofMillis(900), grant::renewed));
        assertThat(keeper.hold(new Grant())).isTrue();
        clock.advance(PERIOD.multipliedBy(2));
        assertThat(renewals).hasSize(2);
        clock.advance(PERIOD);
        assertThat(renewals).hasSize(3);
    }

    @Test
    void S15_aRenewalIsAResponseOfTheStore() {
        startRenewing(Grant::renewed);
        assertThat(keeper.hold(new Grant())).isTrue();
        clock.advance(PERIOD.minusSeconds(1));
        lastResponse.failed(clock.now());
        clock.advance(Duration.ofMillis(500));
        assertThat(lastResponse.contact().failing(clock.now())).isEqualTo(Duration.ofMillis(500));
        clock.advance(Duration.ofMillis(500));
        assertThat(lastResponse.contact().failing(clock.now())).isZero();
        assertThat(lastResponse.contact().since(clock.now())).isZero();
    }

    @Test
    void S17_anEarlierDeadlineMovesTheTimer() {
        assertThat(keeper.hold(new Grant())).isTrue();
        assertThat(clock.timerCount()).isEqualTo(2);
        assertThat(keeper.hold(
                        new GrantValidity(
                                clock, Duration.ofSeconds(1), clock.now().plus(Duration.ofSeconds(3))) {}))
                .isTrue();
        assertThat(clock.timerCount()).isEqualTo(2);
    }
}
