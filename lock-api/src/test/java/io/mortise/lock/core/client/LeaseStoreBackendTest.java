// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.ListableLeaseStore;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.ObservedExpiryDetector;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.StageFailures;
import io.mortise.lock.spi.support.UndeclaredThrow;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what a {@link LeaseStore} can decide: failures, lease durations, administration, blocking calls, observed expiry. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeaseStoreBackendTest {
    private final ManualClock clock = new ManualClock();
    private final MapStore map = new MapStore(clock);
    private final DecidingStore store = new DecidingStore(map, clock);
    private final AtomicReference<BackendContext> openedContext = new AtomicReference<>();
    private final LockClient client = client(store);

    private LockClient client(LeaseStore of) {
        return BackendClients.open(
                opened -> {
                    openedContext.set(opened);
                    return new LeaseStoreBackend(of, opened);
                },
                ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).callbackExecutor(Runnable::run),
                clock);
    }

    /** Returns the context of the client that was opened last. */
    private BackendContext context() {
        return Objects.requireNonNull(openedContext.get());
    }

    /** The failure of a driver, which the core does not know. */
    private static final class DriverException extends Exception {
        private static final long serialVersionUID = 1L;

        DriverException(String message) {
            super(message);
        }
    }

    /** A store whose failures, latency and decisions a test sets. */
    private static final class DecidingStore implements ListableLeaseStore {
        private final MapStore map;
        private final LockClock clock;
        private @Nullable Exception failure;
        private @Nullable Throwable thrown;
        private @Nullable CountDownLatch mayClose;
        private String unrenewable = "";
        private Set<Grant> alsoRemoved = Set.of();
        private boolean rowLockHangs;
        private int largestRenewal;
        private int renewals;
        private boolean refusal;
        private @Nullable RuntimeException refusalUnknown;
        private boolean nameless;
        private volatile boolean closed;
        private Duration shortestLease = Duration.ofSeconds(1);
        private @Nullable Duration onlyLease;
        private Duration oneWay = Duration.ZERO;

        DecidingStore(MapStore map, LockClock clock) {
            this.map = map;
            this.clock = clock;
        }

        private <T> CompletionStage<T> send(Supplier<CompletionStage<T>> request) {
            if (thrown != null) {
                UndeclaredThrow.of(thrown);
            }
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            if (oneWay.isZero()) {
                return request.get();
            }
            CompletableFuture<T> reply = new CompletableFuture<>();
            clock.schedule(
                    oneWay,
                    () -> request.get().thenAccept(value -> clock.schedule(oneWay, () -> reply.complete(value))));
            return reply;
        }

        @Override
        public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
            return send(() -> map.tryAcquire(name, ownerRecord, lease));
        }

        @Override
        public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
            renewals++;
            largestRenewal = Math.max(largestRenewal, grants.size());
            boolean fails =
                    grants.stream().anyMatch(grant -> grant.name().value().equals(unrenewable));
            if (fails) {
                return rowLockHangs
                        ? new CompletableFuture<>()
                        : CompletableFuture.failedFuture(new DriverException("the row is locked"));
            }
            return send(() -> map.renew(grants, lease)).thenApply(removed -> {
                removed.addAll(alsoRemoved);
                return removed;
            });
        }

        @Override
        public CompletionStage<Boolean> release(Grant grant) {
            return send(() -> map.release(grant));
        }

        @Override
        public Duration leaseDuration(Optional<Duration> requested) {
            if (onlyLease != null) {
                return onlyLease;
            }
            Duration lease = requested.orElse(Duration.ofSeconds(12));
            if (lease.toMinutes() > 10) {
                throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at most PT10M");
            }
            if (lease.compareTo(shortestLease) < 0) {
                throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at least " + shortestLease);
            }
            return Duration.ofSeconds(lease.plusNanos(999_999_999).toSeconds());
        }

        @Override
        public boolean isRefusal(Throwable cause) {
            if (refusalUnknown != null) {
                throw refusalUnknown;
            }
            return refusal && cause instanceof DriverException;
        }

        @Override
        public CompletionStage<Optional<StoredGrant>> find(LockName name) {
            return send(() -> CompletableFuture.completedFuture(
                    stored().stream().filter(one -> one.name().equals(name)).findFirst()));
        }

        @Override
        public CompletionStage<List<StoredGrant>> list(String prefix, int limit, String after) {
            return send(() -> CompletableFuture.completedFuture(stored().stream()
                    .filter(one -> one.name().value().startsWith(prefix)
                            && one.name().value().compareTo(after) > 0)
                    .limit(limit)
                    .toList()));
        }

        private List<StoredGrant> stored() {
            return map.grants().stream()
                    .sorted(Comparator.comparing(one -> one.name().value()))
                    .toList();
        }

        @Override
        public String endpoints() {
            if (nameless) {
                throw new IllegalStateException("the pool is closed");
            }
            return map.endpoints();
        }

        @Override
        public void close() {
            closed = true;
            if (mayClose != null) {
                try {
                    mayClose.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    @Test
    void S15_aRefusalFailsAtOnceAndNamesItsCause() {
        store.failure = new DriverException("Table \"LOCKS\" not found");
        store.refusal = true;
        assertThatThrownBy(() -> client.named("x").acquireAsync().join())
                .cause()
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("acquire of x failed")
                .hasMessageContaining("Table \"LOCKS\" not found")
                .hasCause(store.failure);
        store.failure = null;
        assertThat(client.named("x").tryAcquireAsync(Duration.ZERO).join())
                .as("the next request")
                .isPresent();
        clock.advance(Duration.ofMinutes(1));
        assertThat(map.rows).as("no cleanup of the refused request touches it").hasSize(1);
    }

    @Test
    void S15_aFailureThatIsNoRefusalIsRepeatedAndNotCalledSilence() {
        store.failure = new DriverException("Table \"LOCKS\" not found");
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        assertThat(waiting).isNotDone();
        clock.advance(Duration.ofSeconds(13));
        assertThatThrownBy(waiting::join)
                .cause()
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("its requests have had no successful response for 12")
                .hasMessageContaining("Table \"LOCKS\" not found")
                .hasMessageContaining("map:1");
    }

    /** As a check of a SQL state that may be null. */
    @Test
    void S15_aFailureThatTheStoreCannotClassifyMayPass() {
        DriverException failure = new DriverException("connection reset");
        store.failure = failure;
        store.refusalUnknown = new NullPointerException("no SQL state");
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(5));
        store.failure = null;
        clock.advance(Duration.ofSeconds(2));
        assertThat(waiting.join().isHeld()).isTrue();
        assertThat(failure.getSuppressed()).contains(store.refusalUnknown);
    }

    @Test
    void S15_aWaitSurvivesATemporaryFailure() {
        store.failure = new DriverException("deadlock detected");
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(5));
        store.failure = null;
        clock.advance(Duration.ofSeconds(2));
        assertThat(waiting.join().isHeld()).isTrue();
    }

    @Test
    void S14_theStoreDecidesOnLeaseDurations() {
        assertThat(client.named("x").acquireAsync().join().remaining())
                .isBetween(Duration.ofSeconds(11), Duration.ofSeconds(12));
        LockOptions uneven = LockOptions.defaults().leaseDuration(Duration.ofMillis(2_500));
        assertThat(client.named("y", uneven).acquireAsync().join().remaining())
                .as("rounded up")
                .isBetween(Duration.ofMillis(2_960), Duration.ofSeconds(3));
        LockOptions tooLong = LockOptions.defaults().leaseDuration(Duration.ofMinutes(11));
        assertThatThrownBy(() -> client.named("z", tooLong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT11M")
                .hasMessageContaining("PT10M");
    }

    /** Otherwise {@code releaseAfter} would report a delay that is not kept. */
    @Test
    void S05_S14_aStoreMayNotShortenADuration() {
        store.onlyLease = Duration.ofMinutes(5);
        Lease lease = client.named("x").acquireAsync().join();
        assertThatThrownBy(() -> lease.releaseAfterAsync(Duration.ofMinutes(30)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT30M")
                .hasMessageContaining("PT5M");
        assertThat(lease.isHeld()).isTrue();
        LockOptions longer = LockOptions.defaults().leaseDuration(Duration.ofMinutes(6));
        assertThatThrownBy(() -> client.named("y", longer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT6M")
                .hasMessageContaining("PT5M");
    }

    /** The waiters of a store without a clock wait no longer than that. */
    @Test
    void S01_S14_noLeaseIsLongerThanAnHour() {
        store.onlyLease = Duration.ofHours(1);
        assertThat(client.named("x").acquireAsync()).isCompleted();
        store.onlyLease = Duration.ofHours(1).plusMillis(1);
        assertThatThrownBy(() -> client.named("y"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT1H0.001S")
                .hasMessageContaining("PT1H");
    }

    @Test
    void S05_aReleaseThatFindsAGrantThatEndedMeanwhileRemovesIt() {
        Lease lease = client.named("x").acquireAsync().join();
        store.oneWay = Duration.ofMillis(400);
        clock.advanceWithoutTimers(Duration.ofMillis(11_700));
        assertThat(lease.isHeld()).isTrue();
        CompletableFuture<ReleaseOutcome> released = lease.releaseAsync();
        clock.advance(Duration.ofSeconds(1));
        assertThat(released.join()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(map.rows).isEmpty();
    }

    /** The repetitions that remove what a lost acquire may still create begin after the release, and cannot overtake it. */
    @Test
    void S05_aSlowReleaseAfterALostReplyDoesNotSayLost() {
        store.failure = new DriverException("connection reset");
        CompletableFuture<Lease> acquired = client.named("x").acquireAsync();
        store.failure = null;
        clock.advance(Duration.ofSeconds(1));
        store.oneWay = Duration.ofMillis(400);
        CompletableFuture<ReleaseOutcome> released = acquired.join().releaseAsync();
        store.oneWay = Duration.ZERO;
        clock.advance(Duration.ofSeconds(1));
        assertThat(released).isCompletedWithValue(ReleaseOutcome.RELEASED);
    }

    @Test
    void S07_aGrantThatCannotBeRenewedCostsNoOtherOne() {
        List<Lease> leases = IntStream.range(0, 7)
                .mapToObj(i -> client.named("x" + i).acquireAsync().join())
                .toList();
        store.unrenewable = "x3";
        clock.advance(Duration.ofSeconds(30));
        assertThat(leases.stream().map(Lease::isHeld)).containsExactly(true, true, true, false, true, true, true);
        client.named("y").acquireAsync().join();
        clock.advance(Duration.ofSeconds(12));
        assertThat(store.largestRenewal).as("together again").isEqualTo(7);
    }

    /** The second renewal is the last one that is due before the deadline, and the first has no reply yet. */
    @Test
    void S07_aRenewalThatHangsCostsNoOtherGrantOfItsCall() {
        LockClient patient = BackendClients.open(
                opened -> new LeaseStoreBackend(store, opened),
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                clock);
        LockOptions sixSeconds = LockOptions.defaults().leaseDuration(Duration.ofSeconds(6));
        List<Lease> leases = IntStream.range(0, 250)
                .mapToObj(i -> patient.named("x" + i, sixSeconds).acquireAsync().join())
                .toList();
        store.unrenewable = "x3";
        store.rowLockHangs = true;
        clock.advance(Duration.ofSeconds(30));
        assertThat(leases.stream().filter(lease -> !lease.isHeld()).map(Lease::lockName))
                .containsExactly("x3");
    }

    /** The store may not bear a call for each lease within a request timeout. */
    @Test
    void S07_anOutageSplitsTheRenewalsIntoFewCalls() {
        List<Lease> leases = IntStream.range(0, 5_000)
                .mapToObj(i -> client.named("x" + i).acquireAsync().join())
                .toList();
        store.failure = new DriverException("connection refused");
        clock.advance(Duration.ofSeconds(6));
        store.failure = null;
        store.renewals = 0;
        clock.advance(Duration.ofSeconds(1));
        assertThat(leases).allMatch(lease -> lease.remaining().toSeconds() >= 10, "renewed");
        assertThat(store.renewals).isBetween(50, 500);
    }

    /** As a store replies that returns the names in another form: it may mean ours. */
    @Test
    void S02_S07_aReplyThatNamesOtherGrantsRenewsNothing() {
        Lease kept = client.named("x").acquireAsync().join();
        Lease released = client.named("y").acquireAsync().join();
        CompletableFuture<LossReason> lost = kept.lost();
        store.alsoRemoved = Set.of(new LeaseStore.Grant(new LockName("%58"), kept.ownerId()));
        CompletableFuture<ReleaseOutcome> outcome = released.releaseAfterAsync(Duration.ofMinutes(1));
        clock.advance(Duration.ofSeconds(12));
        assertThat(lost).isCompleted();
        assertThat(lost.join().kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(lost.join().detail())
                .contains(DecidingStore.class.getName() + " returned other grants than those of renew 1 leases");
        assertThat(outcome).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
    }

    /** A store that takes a few milliseconds for each row must end within a request timeout. */
    @Test
    void S07_manyGrantsAreRenewedInParts() {
        List<Lease> leases = IntStream.range(0, 250)
                .mapToObj(i -> client.named("x" + i).acquireAsync().join())
                .toList();
        clock.advance(Duration.ofSeconds(30));
        assertThat(leases).allMatch(Lease::isHeld);
        assertThat(store.largestRenewal).isEqualTo(100);
    }

    /** As a store in Kotlin may: then no timer, and no other lease, may be lost with it. */
    @Test
    void S07_S09_aStoreMayThrowCheckedExceptions() {
        Lease held = client.named("x").acquireAsync().join();
        store.thrown = new DriverException("connection reset");
        CompletableFuture<Lease> waiting = client.named("y").acquireAsync();
        clock.advance(Duration.ofSeconds(5));
        assertThat(waiting).isNotDone();
        store.thrown = null;
        clock.advance(Duration.ofSeconds(20));
        assertThat(waiting.join().isHeld()).isTrue();
        assertThat(held.isHeld()).isTrue();
    }

    @Test
    void S16_aStoreThatCannotNameItsEndpointsIsClosedAllTheSame() {
        store.nameless = true;
        assertThat(client.toString()).contains("unknown (java.lang.IllegalStateException: the pool is closed)");
        client.close();
        assertThat(store.closed).isTrue();
    }

    /** As a connection pool that waits for a silent server. */
    @Test
    void S16_aCloseDoesNotWaitForAStoreThatDoesNotClose() throws Exception {
        CountDownLatch mayClose = new CountDownLatch(1);
        store.mayClose = mayClose;
        CompletableFuture<Void> closed = CompletableFuture.runAsync(client::close);
        closed.get(60, TimeUnit.SECONDS);
        assertThat(mayClose.getCount()).as("still").isEqualTo(1);
    }

    /** Returns the time until the only grant ends, for a grant that ends after whole or half seconds. */
    private Duration untilFree() {
        Duration passed = Duration.ZERO;
        while (!map.grants().isEmpty()) {
            clock.advanceWithoutTimers(Duration.ofMillis(100));
            passed = passed.plusMillis(100);
        }
        return passed;
    }

    @Test
    void S05_S14_theStoreRoundsADelayUpAsItDoesALease() {
        assertThat(client.named("x").acquireAsync().join().releaseAfterAsync(Duration.ofMillis(2_500)))
                .isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(untilFree()).isEqualTo(Duration.ofSeconds(3));
        Lease lease = client.named("y").acquireAsync().join();
        assertThatThrownBy(() -> lease.releaseAfterAsync(Duration.ofMinutes(11)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT11M")
                .hasMessageContaining("PT10M");
        assertThat(lease.releaseAfterAsync(Duration.ofMillis(500))).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(untilFree()).as("no lease of this store is below a second").isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void S05_S14_theStoreRoundsADelayBelowASecondUpToo() {
        store.shortestLease = Duration.ZERO;
        assertThat(client.named("x").acquireAsync().join().releaseAfterAsync(Duration.ofMillis(300)))
                .isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(untilFree()).isEqualTo(Duration.ofSeconds(1));
    }

    /** As the rest of any delay is when the release must be repeated. */
    @Test
    void S05_aDelayMayBeTooShortForALease() {
        store.shortestLease = Duration.ofSeconds(5);
        Lease lease = client.named("x").acquireAsync().join();
        assertThat(lease.releaseAfterAsync(Duration.ofMillis(2_500))).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(untilFree()).as("not rounded up").isEqualTo(Duration.ofMillis(2_500));
    }

    /** The keeper may have chosen the grant for a renewal before the release, and call the backend after it. */
    @Test
    void S05_noRenewalIsSentAfterADelayedRelease() {
        AtomicReference<LeaseStoreBackend> opened = new AtomicReference<>();
        LockClient observed = BackendClients.open(
                context -> {
                    opened.set(new LeaseStoreBackend(store, context));
                    return opened.get();
                },
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                clock);
        LeaseStoreBackend backend = Objects.requireNonNull(opened.get());
        Contender contender = backend.enqueue(new Request(), new ContenderListener() {
            @Override
            public void wake() {}

            @Override
            public void lost(LossReason reason) {}
        });
        AttemptResult.Granted granted = (AttemptResult.Granted)
                contender.attempt().toCompletableFuture().join();
        assertThat(contender.endAfter(Duration.ofSeconds(3))).isCompletedWithValue(true);
        long requests = map.requests.get();
        backend.renew(List.of(granted.validity()));
        assertThat(map.requests).hasValue(requests);
        assertThat(untilFree()).isEqualTo(Duration.ofSeconds(3));
        observed.close();
    }

    private record Request(LockName name, String attemptId, String ownerRecord, Duration leaseDuration, boolean mayWait)
            implements LockRequest {
        Request() {
            this(new LockName("x"), "a".repeat(32), "a".repeat(32) + " m1", Duration.ofSeconds(30), false);
        }
    }

    /** An operator frees the lock between the two tries, or the lease had ended before the first: nobody knows. */
    @Test
    void S05_aRepeatedDelayedReleaseThatFindsNothingDoesNotSayReleased() {
        Lease lease = client.named("x").acquireAsync().join();
        store.failure = new DriverException("connection reset");
        CompletableFuture<ReleaseOutcome> released = lease.releaseAfterAsync(Duration.ofSeconds(5));
        store.failure = null;
        map.rows.clear();
        clock.advance(Duration.ofMillis(500));
        assertThat(released).isCompletedWithValue(ReleaseOutcome.UNKNOWN);
    }

    /** As when a class of the driver cannot be loaded. */
    @Test
    void S05_aDelayedReleaseDoesNotWaitForARenewalThatThrewAnError() {
        Lease lease = client.named("x").acquireAsync().join();
        store.thrown = new NoClassDefFoundError("com/example/Driver");
        clock.advance(Duration.ofSeconds(5));
        assertThat(lease.isHeld()).isTrue();
        store.thrown = null;
        assertThat(lease.releaseAfterAsync(Duration.ofSeconds(3))).isCompletedWithValue(ReleaseOutcome.RELEASED);
    }

    /** Shortly before the end of the delay the rest is too short for a lease. */
    @Test
    void S05_aLateDelayedReleaseIsUndoneAlsoIfTheStoreRejectsShortLeases() {
        store.shortestLease = Duration.ofSeconds(2);
        Lease lease = client.named("x").acquireAsync().join();
        Set<LeaseStore.Grant> grant = Set.of(new LeaseStore.Grant(
                new LockName("x"),
                OwnerRecordCodec.attemptId(map.grants().get(0).ownerRecord()).orElseThrow()));
        store.failure = new DriverException("connection reset");
        CompletableFuture<ReleaseOutcome> released = lease.releaseAfterAsync(Duration.ofSeconds(3));
        store.failure = null;
        clock.advance(Duration.ofMillis(2_500));
        assertThat(released).isDone();
        map.renew(grant, Duration.ofSeconds(10)); // the first request, executed late
        clock.advance(Duration.ofSeconds(2));
        assertThat(map.grants()).as("after the next sweep, at 3.75 s").isEmpty();
    }

    /** The number that docs/writing-a-backend.md states: a third of the lease duration for one round trip. */
    @Test
    void S07_aLeaseSurvivesRoundTripsOfAlmostAThirdOfItsDuration() {
        LockClient patient = BackendClients.open(
                opened -> new LeaseStoreBackend(store, opened),
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                clock);
        store.oneWay = Duration.ofMillis(1_900); // the lease of 12 s less 1 % and 2 ms, in three parts: 3.96 s
        CompletableFuture<Lease> first = patient.named("x").acquireAsync();
        clock.advance(Duration.ofSeconds(4));
        clock.advance(Duration.ofMinutes(5));
        assertThat(first.join().isHeld()).isTrue();
        first.join().releaseAsync();
        clock.advance(Duration.ofSeconds(4));
        LockOptions shorter = LockOptions.defaults().leaseDuration(Duration.ofSeconds(9));
        CompletableFuture<Lease> second = patient.named("y", shorter).acquireAsync();
        clock.advance(Duration.ofMillis(3_800));
        CompletableFuture<LossReason> lost = second.join().lost();
        clock.advance(Duration.ofSeconds(9));
        assertThat(lost).as("3.8 s are more than a third of 9 s").isCompleted();
    }

    @Test
    void S18_aListableStoreHasAnAdmin() {
        assertThat(client.capabilities()).contains(Capability.HOLDER_INFO, Capability.LIST);
        LockAdmin admin = client.admin().orElseThrow();
        assertThat(admin.status("a").join()).isEqualTo(new LockStatus("a", List.of(), List.of()));
        Lease lease = client.named("a", LockOptions.defaults().metadata(Map.of("job", "nightly")))
                .acquireAsync()
                .join();
        LockHolder holder = admin.status("a").join().holders().get(0);
        assertThat(holder.owner()).contains(lease.ownerId());
        assertThat(holder.token()).hasValue(lease.fencingToken());
        assertThat(holder.metadata()).containsEntry("job", "nightly");
        assertThat(admin.diagnose().join()).isEmpty();
        assertThat(client.named("a").status().join())
                .isEqualTo(admin.status("a").join());
    }

    @Test
    void S18_aListHasPages() {
        for (String name : List.of("p/1", "p/2", "p/3", "p/4", "q")) {
            client.named(name).acquireAsync().join();
        }
        LockAdmin admin = client.admin().orElseThrow();
        LockAdmin.Page first = admin.list("p/", 2, "").join();
        assertThat(first.locks()).extracting(LockStatus::name).containsExactly("p/1", "p/2");
        LockAdmin.Page second = admin.list("p/", 2, first.next().orElseThrow()).join();
        assertThat(second.locks()).extracting(LockStatus::name).containsExactly("p/3", "p/4");
        LockAdmin.Page last = admin.list("p/", 2, second.next().orElseThrow()).join();
        assertThat(last).isEqualTo(new LockAdmin.Page(List.of(), Optional.empty()));
        assertThat(admin.list("p/", 1, "").join().locks()).as("the least limit").hasSize(1);
        assertThat(admin.list("p/", 10_000, "").join().locks())
                .as("the greatest limit")
                .hasSize(4);
    }

    @Test
    void S18_aForcedReleaseRemovesTheGrantThatWasSeen() {
        LockAdmin admin = client.admin().orElseThrow();
        Lease lease = client.named("a").acquireAsync().join();
        LockHolder seen = admin.status("a").join().holders().get(0);
        assertThat(admin.forceRelease("a", LockHolder.foreign("somebody")).join())
                .as("a holder without an attempt id")
                .isFalse();
        assertThat(admin.forceRelease("b", seen).join()).as("another lock").isFalse();
        assertThat(lease.isHeld()).isTrue();
        assertThat(admin.forceRelease("a", seen).join()).isTrue();
        clock.advance(Duration.ofSeconds(5));
        assertThat(lease.lost().join().kind()).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(client.named("a").tryAcquireAsync(Duration.ZERO).join()).isPresent();
        assertThat(admin.forceRelease("a", seen).join()).as("the successor").isFalse();
    }

    /** A store has no way to release it, and "no longer held" would be untrue. */
    @Test
    void S18_aForcedReleaseOfAForeignHolderIsRefused() {
        LockAdmin admin = client.admin().orElseThrow();
        map.rows.put(new LockName("a"), new MapStore.Row("", "written by hand", 1, Long.MAX_VALUE));
        LockHolder seen = admin.status("a").join().holders().get(0);
        assertThat(seen.isForeign()).isTrue();
        assertThatThrownBy(() -> admin.forceRelease("a", seen).join())
                .cause()
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("forced release of lock \"a\"")
                .hasMessageContaining("map:1");
        map.rows.clear();
        assertThat(admin.forceRelease("a", seen).join()).as("it is gone").isFalse();
    }

    @Test
    void S15_theFailuresOfTheAdminHaveCategoriesToo() {
        LockAdmin admin = client.admin().orElseThrow();
        store.failure = new DriverException("permission denied");
        store.refusal = true;
        assertThatThrownBy(() -> admin.list("", 10, "").join()).hasCauseInstanceOf(BackendRefusedException.class);
        store.refusal = false;
        assertThatThrownBy(() -> admin.status("a").join()).hasCauseInstanceOf(BackendUnavailableException.class);
    }

    @Test
    void aStoreThatCannotListHasNoAdmin() {
        LockClient simple = client(map);
        assertThat(simple.admin()).isEmpty();
        assertThat(simple.capabilities()).doesNotContain(Capability.HOLDER_INFO, Capability.LIST);
    }

    @Test
    void S17_manyBlockingCallsNeedFewThreads() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        CountDownLatch full = new CountDownLatch(BackendContext.BLOCKING_CALLS);
        for (int i = 0; i < 200; i++) {
            int number = i;
            calls.add(context()
                    .callBlocking("call", () -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        full.countDown();
                        gate.await();
                        running.decrementAndGet();
                        return number;
                    })
                    .toCompletableFuture());
        }
        full.await();
        gate.countDown();
        for (int i = 0; i < calls.size(); i++) {
            assertThat(calls.get(i).get()).isEqualTo(i);
        }
        assertThat(most).hasValue(BackendContext.BLOCKING_CALLS);
    }

    @Test
    void S15_aBlockingCallHasADeadlineAndIsDroppedIfItHasNotBegun() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch full = new CountDownLatch(BackendContext.BLOCKING_CALLS);
        List<CompletableFuture<Void>> begun = new ArrayList<>();
        for (int i = 0; i < BackendContext.BLOCKING_CALLS; i++) {
            begun.add(context()
                    .<Void>callBlocking("silent call", () -> {
                        full.countDown();
                        gate.await();
                        return null;
                    })
                    .toCompletableFuture());
        }
        full.await();
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Integer> dropped =
                context().callBlocking("late call", ran::incrementAndGet).toCompletableFuture();
        clock.advance(Duration.ofSeconds(1));
        begun.forEach(call -> assertThatThrownBy(call::join)
                .hasCauseInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("silent call: no answer in 1000 ms"));
        assertThat(dropped).isCompletedExceptionally();
        CompletableFuture<String> next =
                context().callBlocking("next call", () -> "done").toCompletableFuture();
        gate.countDown();
        assertThat(next.get()).isEqualTo("done");
        assertThat(ran).as("calls after their deadline").hasValue(0);
    }

    @Test
    void S16_aBlockingCallFailsOnceTheClientIsClosed() {
        client.close();
        assertThatThrownBy(() -> context()
                        .callBlocking("late call", () -> 1)
                        .toCompletableFuture()
                        .join())
                .hasCauseInstanceOf(ClientClosedException.class);
    }

    @Test
    void aBlockingCallFailsWithItsOwnException() {
        DriverException failure = new DriverException("no");
        CompletableFuture<Integer> call = context()
                .<Integer>callBlocking("call", () -> {
                    throw failure;
                })
                .toCompletableFuture();
        assertThatThrownBy(call::get)
                .satisfies(thrown -> assertThat(StageFailures.unwrap(thrown)).isSameAs(failure));
    }

    /** A store that only compares versions, as DynamoDB or an object store; one of its clients may stop responding. */
    private static final class VersionedStore implements LeaseStore {
        private record Row(long version, Grant grant, long token, Duration lease, String ownerRecord) {}

        private final Map<LockName, Row> rows;
        private final ObservedExpiryDetector expiry;
        private boolean silent;

        VersionedStore(Map<LockName, Row> rows, LockClock clock) {
            this.rows = rows;
            this.expiry = new ObservedExpiryDetector(clock);
        }

        private <T> CompletionStage<T> send(Supplier<T> request) {
            return silent ? new CompletableFuture<>() : CompletableFuture.completedFuture(request.get());
        }

        @Override
        public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
            return send(() -> {
                Grant grant =
                        new Grant(name, OwnerRecordCodec.attemptId(ownerRecord).orElseThrow());
                Row row = rows.get(name);
                if (row != null && row.grant.equals(grant)) {
                    return new Answer.Token(row.token);
                }
                if (row != null && !expiry.hasEnded(name, row.ownerRecord, row.version, row.lease)) {
                    return new Answer.HeldBy(row.ownerRecord);
                }
                long token = row == null ? 1 : row.token + 1;
                rows.put(name, new Row(row == null ? 1 : row.version + 1, grant, token, lease, ownerRecord));
                return new Answer.Token(token);
            });
        }

        @Override
        public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
            return send(() -> {
                Set<Grant> removed = new HashSet<>(grants);
                for (Grant grant : grants) {
                    rows.computeIfPresent(grant.name(), (name, row) -> {
                        if (!row.grant.equals(grant)) {
                            return row;
                        }
                        removed.remove(grant);
                        return new Row(row.version + 1, grant, row.token, lease, row.ownerRecord);
                    });
                }
                return removed;
            });
        }

        @Override
        public CompletionStage<Boolean> release(Grant grant) {
            return send(() -> {
                Row row = rows.get(grant.name());
                return row != null && row.grant.equals(grant) && rows.remove(grant.name(), row);
            });
        }

        @Override
        public boolean hasClock() {
            return false;
        }

        @Override
        public String endpoints() {
            return "versions:1";
        }

        @Override
        public void close() {}
    }

    /** After the delay nobody may have read the record, so that the next attempt would only begin to count. */
    @Test
    void S05_aStoreWithoutAClockOffersNoDelayedRelease() {
        LockClient holder = client(new VersionedStore(new HashMap<>(), clock));
        assertThat(holder.capabilities()).doesNotContain(Capability.DELAYED_RELEASE);
        Lease lease = holder.named("x").acquireAsync().join();
        assertThatThrownBy(() -> lease.releaseAfterAsync(Duration.ofSeconds(1)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("DELAYED_RELEASE");
        assertThat(lease.isHeld()).isTrue();
    }

    /** A release deletes the record, so that the versions of the next one begin at 1 again. */
    @Test
    void S01_aVersionThatBeginsAgainIsThatOfANewGrant() {
        Map<LockName, VersionedStore.Row> rows = new HashMap<>();
        LockClient holder = client(new VersionedStore(rows, clock));
        LockClient onceAMinute = client(new VersionedStore(rows, clock));
        Lease first = holder.named("x").acquireAsync().join();
        assertThat(onceAMinute.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        assertThat(first.releaseAsync()).isCompletedWithValue(ReleaseOutcome.RELEASED);
        clock.advance(Duration.ofSeconds(59));
        Lease second = holder.named("x").acquireAsync().join();
        clock.advance(Duration.ofSeconds(1));
        assertThat(onceAMinute.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        assertThat(second.isHeld()).isTrue();
    }

    @Test
    void S01_S11_aStoreWithoutAClockIsTakenOverAfterItsHolderKnows() {
        Map<LockName, VersionedStore.Row> rows = new HashMap<>();
        VersionedStore ofHolder = new VersionedStore(rows, clock);
        Lease held = client(ofHolder).named("x").acquireAsync().join();
        LockClient other = client(new VersionedStore(rows, clock));
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        clock.advance(Duration.ofMinutes(10));
        assertThat(held.isHeld()).as("renewed").isTrue();
        assertThat(waiting).isNotDone();
        ofHolder.silent = true;
        Duration waited = Duration.ZERO;
        while (!waiting.isDone()) {
            clock.advance(Duration.ofMillis(1));
            waited = waited.plusMillis(1);
            assertThat(held.isHeld() && waiting.isDone()).as("two holders").isFalse();
            assertThat(waited).isLessThan(Duration.ofSeconds(31));
        }
        assertThat(waiting.join().fencingToken()).isGreaterThan(held.fencingToken());
    }
}
