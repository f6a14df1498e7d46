// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Tests what a listener is notified of on backends whose waiters are queued locally, or whose leases share a session. */
class ObservedBackendsTest {
    private final ManualClock clock = new ManualClock();
    private final List<String> events = new ArrayList<>();

    private Runnable whenGranted = () -> {};

    private final LockListener listener = (backend, lockName) -> {
        events.add(lockName + " starts on " + backend);
        return new LockListener.AcquireObserver() {
            @Override
            public void waiting() {
                events.add(lockName + " waits");
            }

            @Override
            public LockListener.LeaseObserver granted(Lease lease) {
                events.add(lockName + " granted");
                whenGranted.run();
                return new LockListener.LeaseObserver() {
                    @Override
                    public void renewed(Duration slack, Duration leaseDuration) {
                        events.add(lockName + " renewed " + slack.toSeconds() + " of " + leaseDuration.toSeconds());
                    }

                    @Override
                    public void lost(LossReason reason, Duration held) {
                        events.add(lockName + " lost " + reason.kind());
                    }

                    @Override
                    public void released(ReleaseOutcome outcome, Duration held) {
                        events.add(lockName + " " + outcome);
                    }
                };
            }

            @Override
            public void busy() {
                events.add(lockName + " busy");
            }

            @Override
            public void withdrawn() {
                events.add(lockName + " withdrawn");
            }

            @Override
            public void failed(LockException failure) {
                events.add(lockName + " failed: " + failure.getClass().getSimpleName());
            }
        };
    };

    private final ClientOptions options =
            ClientOptions.defaults().callbackExecutor(Runnable::run).listener(listener);

    private List<String> take() {
        List<String> taken = List.copyOf(events);
        events.clear();
        return taken;
    }

    @Test
    void S12_anAcquireWaitsInTheLocalQueueToo() {
        MapStore store = new MapStore(clock);
        LockClient client = BackendClients.open(context -> new LeaseStoreBackend(store, context), options, clock);
        Lease held = client.named("x").acquireAsync().join();
        client.named("x").acquireAsync();
        assertThat(take()).containsExactly("x starts on custom", "x granted", "x starts on custom", "x waits");
        store.requests.set(0);
        client.named("x").tryAcquireAsync(Duration.ofMillis(1));
        assertThat(store.requests).as("the first in the queue asks").hasValue(0);
        assertThat(take()).containsExactly("x starts on custom", "x waits");
        clock.advance(Duration.ofMillis(1));
        assertThat(take()).containsExactly("x busy");
        held.releaseAsync().join();
        clock.advance(Duration.ofSeconds(1));
        assertThat(take()).containsExactly("x RELEASED", "x granted");
        client.close();
    }

    @Test
    void S06_aRenewalOfASessionIsReportedForEachLeaseOnIt() {
        Session session = new Session(clock);
        LockClient client = BackendClients.open(context -> session.backend(), options, clock);
        clock.advance(Duration.ofSeconds(2)); // the session is older than its leases
        client.named("a").acquireAsync().join();
        Lease b = client.named("b").acquireAsync().join();
        take();
        clock.advance(Duration.ofSeconds(3));
        assertThat(take()).containsExactlyInAnyOrder("a renewed 5 of 10", "b renewed 5 of 10");
        b.releaseAsync().join();
        take();
        clock.advance(Duration.ofSeconds(3));
        assertThat(take()).containsExactly("a renewed 7 of 10");
        session.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
        assertThat(take()).containsExactly("a lost SESSION_ENDED");
        client.close();
    }

    /** The observers of the lease are known only after this notification, so the loss cannot be passed on before. */
    @Test
    void S07_aLossDuringTheNotificationOfTheGrantFollowsIt() {
        Session session = new Session(clock);
        LockClient client = BackendClients.open(context -> session.backend(), options, clock);
        whenGranted = () -> session.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
        assertThat(client.named("a").acquireAsync().join().isHeld()).isFalse();
        assertThat(take()).containsExactly("a starts on custom", "a granted", "a lost SESSION_ENDED");
        client.close();
    }

    @Test
    void S10_S15_S16_acquiresThatEndWithoutALeaseAreReported() {
        MapStore store = new MapStore(clock);
        LockClient client = BackendClients.open(context -> new LeaseStoreBackend(store, context), options, clock);
        client.named("x").acquireAsync().join();
        CompletableFuture<Lease> cancelled = client.named("x").acquireAsync();
        take();
        cancelled.cancel(false);
        assertThat(take()).containsExactly("x withdrawn");
        store.returnsNull = true;
        assertThat(client.named("y").acquireAsync()).isCompletedExceptionally();
        assertThat(take()).containsExactly("y starts on custom", "y failed: BackendRefusedException");
        store.returnsNull = false;
        clock.advance(Duration.ofMinutes(1)); // the cleanup, which a close would wait for
        client.named("x").acquireAsync();
        take();
        client.close();
        assertThat(take()).contains("x failed: ClientClosedException");
        client.named("z").acquireAsync();
        assertThat(take()).containsExactly("z starts on custom", "z failed: ClientClosedException");
    }

    /** A grant that is lost before its reply arrives is no lease: nobody sees it. */
    @Test
    void S06_aGrantThatHasEndedBeforeItsReplyIsNotReported() {
        Session session = new Session(clock);
        session.expire = true;
        LockClient client = BackendClients.open(context -> session.backend(), options, clock);
        CompletableFuture<Lease> acquiring = client.named("a").acquireAsync();
        clock.advance(Duration.ofMillis(100));
        assertThat(take()).containsExactly("a starts on custom");
        acquiring.cancel(false);
        session.silence.complete(new AttemptResult.Displaced("test")); // a close waits for it
        client.close();
    }

    /** A session of 10 s, which is renewed every 3 s and grants each lock. Once it is lost, it does not respond. */
    private static final class Session extends GrantValidity {
        private final ManualClock clock;
        private final CompletableFuture<AttemptResult> silence = new CompletableFuture<>();
        private boolean expire;

        Session(ManualClock clock) {
            super(clock, Duration.ofSeconds(3), clock.now().plus(NoopBackend.LEASE));
            this.clock = clock;
        }

        LockBackend backend() {
            return new NoopBackend("session:1") {
                @Override
                public Contender enqueue(LockRequest request, ContenderListener core) {
                    return new Contender() {
                        @Override
                        public CompletionStage<AttemptResult> attempt() {
                            if (reason().isPresent()) {
                                return silence;
                            }
                            if (expire) {
                                lost(new LossReason(LossReason.Kind.SESSION_ENDED, "test"));
                            }
                            return CompletableFuture.completedFuture(new AttemptResult.Granted(1, Session.this));
                        }

                        @Override
                        public CompletionStage<Boolean> end() {
                            return CompletableFuture.completedFuture(true);
                        }
                    };
                }

                @Override
                public void renew(List<GrantValidity> due) {
                    due.forEach(each -> each.extend(clock.now().plus(LEASE)));
                }
            };
        }
    }
}
