// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.runtime.RecordedLog;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Tests that the events of one acquire are delivered one at a time and in order, whichever threads they arrive on. */
class AcquireNotifierTest {
    private static final LossReason REMOVED = new LossReason(LossReason.Kind.REMOVED, "test");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Lease NO_LEASE = (Lease) Proxy.newProxyInstance(
            Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (proxy, method, arguments) -> null);

    private final ManualClock clock = new ManualClock();
    private final List<String> events = new ArrayList<>(); // not thread-safe, since observers need not be
    private Runnable whenWaiting = () -> {};

    private final LockListener listener = (backend, lockName) -> new LockListener.AcquireObserver() {
        @Override
        public void waiting() {
            whenWaiting.run();
            events.add("waiting");
        }

        @Override
        public LockListener.LeaseObserver granted(Lease lease) {
            events.add("granted");
            return new LockListener.LeaseObserver() {
                @Override
                public void renewed(Duration slack, Duration leaseDuration) {
                    events.add("renewed " + slack.toSeconds());
                }

                @Override
                public void lost(LossReason reason, Duration held) {
                    events.add("lost after " + held.toSeconds());
                }

                @Override
                public void released(ReleaseOutcome outcome, Duration held) {
                    events.add("released after " + held.toSeconds());
                }
            };
        }

        @Override
        public void withdrawn() {
            events.add("withdrawn");
        }

        @Override
        public void failed(LockException failure) {
            events.add("failed: " + failure.getMessage());
        }
    };

    private final AcquireNotifier notifier =
            Objects.requireNonNull(new ListenerNotifier("test", List.of(listener), clock, new ThrottledLog(clock))
                    .acquireStarted(new LockName("x")));

    @Test
    void eventsDuringADeliveryOnAnotherThreadFollowIt() throws Exception {
        CountDownLatch delivering = new CountDownLatch(1);
        CountDownLatch arrived = new CountDownLatch(1);
        whenWaiting = () -> {
            delivering.countDown();
            try {
                assertThat(arrived.await(50, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        Thread busy = new Thread(notifier::waiting);
        busy.start();
        assertThat(delivering.await(50, TimeUnit.SECONDS)).isTrue();
        notifier.granted(NO_LEASE, clock.now().plus(LEASE));
        clock.advance(Duration.ofSeconds(10));
        notifier.renewed(clock.now().plus(LEASE), LEASE);
        Duration held = notifier.heldUntil(clock.now());
        clock.advance(Duration.ofSeconds(5));
        notifier.released(ReleaseOutcome.RELEASED, held);
        arrived.countDown();
        busy.join(50_000);
        assertThat(events).containsExactly("waiting", "granted", "renewed 20", "released after 10");
    }

    @Test
    void eventsThatAnEventCausesFollowIt() {
        whenWaiting = notifier::withdrawn;
        notifier.waiting();
        assertThat(events).containsExactly("waiting", "withdrawn");
    }

    @Test
    void nothingFollowsTheEnd() {
        notifier.granted(NO_LEASE, clock.now().plus(LEASE));
        notifier.waiting();
        notifier.withdrawn();
        notifier.lost(REMOVED);
        notifier.lost(REMOVED);
        notifier.renewed(clock.now().plus(LEASE), LEASE);
        notifier.released(ReleaseOutcome.UNKNOWN, Duration.ZERO);
        assertThat(events).containsExactly("granted", "lost after 0");
    }

    @Test
    void S15_aFailureEndsTheAcquire() {
        notifier.waiting();
        notifier.failed(new BackendUnavailableException("no answer"));
        notifier.failed(new BackendUnavailableException("too late"));
        notifier.granted(NO_LEASE, clock.now().plus(LEASE));
        assertThat(events).containsExactly("waiting", "failed: no answer");
    }

    @Test
    void whatAListenerThrowsIsLoggedAndHidesNoEventFromOthers() {
        RecordedLog log = new RecordedLog();
        LockListener broken = (backend, lockName) -> new LockListener.AcquireObserver() {
            @Override
            public void waiting() {
                throw new IllegalStateException("the observer failed");
            }
        };
        AcquireNotifier both = Objects.requireNonNull(
                new ListenerNotifier("test", List.of(broken, listener), clock, new ThrottledLog(clock, log.logger))
                        .acquireStarted(new LockName("x")));
        both.waiting();
        assertThat(events).containsExactly("waiting");
        assertThat(log.lines(Level.WARN))
                .containsExactly("WARN event=listener-failed method=waiting cause=java.lang.IllegalStateException");
    }

    /** Not even a log that fails in turn, here by its clock, stops the delivery of the later events. */
    @Test
    void aFailureThatCannotBeLoggedStopsNoLaterEvent() {
        LockClock broken = (LockClock) Proxy.newProxyInstance(
                LockClock.class.getClassLoader(), new Class<?>[] {LockClock.class}, (proxy, method, arguments) -> {
                    throw new IllegalStateException("no clock");
                });
        AcquireNotifier unlogged =
                Objects.requireNonNull(new ListenerNotifier("test", List.of(listener), clock, new ThrottledLog(broken))
                        .acquireStarted(new LockName("x")));
        whenWaiting = () -> {
            unlogged.granted(NO_LEASE, clock.now().plus(LEASE));
            throw new IllegalStateException("the observer failed");
        };
        unlogged.waiting();
        unlogged.lost(REMOVED);
        assertThat(events).containsExactly("granted", "lost after 0");
    }

    @Test
    void aReplyAfterTheDeadlineHasNoSlack() {
        notifier.granted(NO_LEASE, clock.now().plus(LEASE));
        clock.advance(LEASE.plusSeconds(3));
        notifier.renewed(clock.now().plus(LEASE), LEASE);
        assertThat(events).containsExactly("granted", "renewed 0");
    }
}
