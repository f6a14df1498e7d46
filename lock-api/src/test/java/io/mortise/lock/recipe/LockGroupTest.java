// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the order, the time budget and the rollback of a group, with locks that record their calls. */
class LockGroupTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final List<String> calls = new ArrayList<>();
    private final Map<String, Duration> waits = new HashMap<>();
    private final Map<String, CompletableFuture<Optional<Lease>>> pending = new HashMap<>();
    private final Map<String, CompletableFuture<LossReason>> losses = new HashMap<>();

    private interface Reply {
        Optional<Lease> get(Duration maxWait) throws InterruptedException;
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private DistributedLock lock(String name) {
        return lock(name, maxWait -> Optional.of(lease(name)));
    }

    private DistributedLock lock(String name, Reply reply) {
        return (DistributedLock) proxy(DistributedLock.class, (proxy, method, args) -> {
            if (!method.getName().equals("name")) {
                calls.add("acquire " + name);
            }
            return switch (method.getName()) {
                case "name" -> name;
                case "tryAcquire" -> {
                    waits.put(name, (Duration) args[0]);
                    yield reply.get((Duration) args[0]);
                }
                case "acquire" -> reply.get(LONG).orElseThrow();
                case "tryAcquireAsync" -> pending.computeIfAbsent(name, any -> new CompletableFuture<>());
                default -> throw new UnsupportedOperationException(method.toString());
            };
        });
    }

    private Lease lease(String name) {
        return lease(name, ReleaseOutcome.RELEASED);
    }

    private Lease lease(String name, ReleaseOutcome outcome) {
        CompletableFuture<LossReason> lost = losses.computeIfAbsent(name, any -> new CompletableFuture<>());
        return (Lease) proxy(Lease.class, (proxy, method, args) -> switch (method.getName()) {
            case "lockName" -> name;
            case "lost" -> lost.copy();
            case "isHeld" -> !lost.isDone();
            case "ensureHeld" -> {
                if (lost.isDone()) {
                    throw new LeaseLostException(name, lost.join());
                }
                yield null;
            }
            case "remaining" -> Duration.ofSeconds(name.length());
            case "fencingToken" -> (long) name.charAt(0);
            case "release" -> outcome;
            case "releaseAsync" -> {
                calls.add("release " + name);
                yield CompletableFuture.completedFuture(outcome);
            }
            default -> throw new UnsupportedOperationException(method.toString());
        });
    }

    @Test
    void theOrderOfNamesCountsAndNotThatOfTheArguments() throws Exception {
        LockGroup group = LockGroup.of(lock("b"), lock("ä"), lock("B"), lock("a"));
        assertThat(group.names()).containsExactly("B", "a", "b", "ä");
        GroupLease leases = group.acquire();
        assertThat(calls).containsExactly("acquire B", "acquire a", "acquire b", "acquire ä");
        assertThat(leases.fencingTokens()).containsEntry("a", 97L).hasSize(4);
        assertThat(leases.lease("b").lockName()).isEqualTo("b");
        assertThatThrownBy(() -> leases.lease("c")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void S14_aGroupOfNothingOrWithANameTwiceIsRefused() {
        assertThatThrownBy(LockGroup::of).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LockGroup.of(lock("a"), lock("b"), lock("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a\" occurs twice");
        LockGroup group = LockGroup.of(lock("a"));
        assertThatThrownBy(() -> group.tryAcquire(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> group.tryAcquireAsync(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(calls).isEmpty();
    }

    /** A stage of the application may request one of the locks again, or block. */
    @Test
    void S08_anAsynchronousGroupIsGivenBackBeforeItsOutcomeIsTold() {
        LockGroup group = LockGroup.of(lock("a"), lock("b"));
        CompletableFuture<Boolean> told = group.tryAcquireAsync(LONG).thenApply(outcome -> calls.contains("release a"));
        reply("a").complete(Optional.of(lease("a")));
        reply("b").complete(Optional.empty());
        assertThat(told).isCompletedWithValue(true);
    }

    @Test
    void S08_anAsynchronousGroupThatCannotRequestALockGivesTheOthersBack() {
        Error broken = new AssertionError("no thread");
        DistributedLock second = (DistributedLock) proxy(DistributedLock.class, (proxy, method, args) -> {
            if (method.getName().equals("name")) {
                return "b";
            }
            throw broken;
        });
        CompletableFuture<Optional<GroupLease>> future =
                LockGroup.of(lock("a"), second).tryAcquireAsync(LONG);
        reply("a").complete(Optional.of(lease("a")));
        assertThat(future).isCompletedExceptionally();
        assertThatThrownBy(future::join).hasCause(broken);
        assertThat(calls).containsExactly("acquire a", "release a");
    }

    @Test
    void S08_anAsynchronousGroupThatCannotBeDeliveredIsGivenBack() {
        Error noMemory = new OutOfMemoryError("for the result");
        CompletableFuture<GroupLease> future = new GroupAcquisition<GroupLease>(List.of(lock("a")), LONG, group -> {
                    throw noMemory;
                })
                .begin();
        reply("a").complete(Optional.of(lease("a")));
        assertThat(future)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isSameAs(noMemory);
        assertThat(calls).containsExactly("acquire a", "release a");
    }

    private CompletableFuture<Optional<Lease>> reply(String name) {
        return pending.computeIfAbsent(name, any -> new CompletableFuture<>());
    }

    @Test
    void S09_allLocksShareOneTimeBudget() throws Exception {
        DistributedLock slow = lock("a", maxWait -> {
            long start = System.nanoTime();
            while (System.nanoTime() - start < 2_000_000) {
                Thread.onSpinWait();
            }
            return Optional.of(lease("a"));
        });
        assertThat(LockGroup.of(slow, lock("b")).tryAcquire(LONG)).isPresent();
        assertThat(waits.get("b"))
                .isLessThanOrEqualTo(requireNonNull(waits.get("a")).minusMillis(2));
        calls.clear();
        assertThat(LockGroup.of(slow, lock("b")).tryAcquire(Duration.ofMillis(1)))
                .as("the budget is used up by the first lock")
                .isEmpty();
        assertThat(calls).containsExactly("acquire a", "release a");
    }

    /** The first lock took nearly all of the time, so that nobody can tell whether the store of the second one replies. */
    @Test
    void S15_aLockWithoutAReplyInTheLastMomentIsNoOutage() throws Exception {
        Duration maxWait = Duration.ofMillis(500);
        BackendUnavailableException silence = new BackendUnavailableException("no reply");
        DistributedLock slow = lock("a", any -> {
            spinUntilLeft(maxWait, Duration.ofMillis(30));
            return Optional.of(lease("a"));
        });
        DistributedLock silent = lock("b", any -> {
            throw silence;
        });
        boolean inTime = false;
        while (!inTime) { // on a machine that stood still, nothing of the budget was left for the second lock
            calls.clear();
            assertThat(LockGroup.of(slow, silent).tryAcquire(maxWait)).isEmpty();
            assertThat(calls).endsWith("release a");
            inTime = calls.contains("acquire b");
        }
        BackendUnavailableException refusal =
                new BackendUnavailableException("refused", "server:1", new IOException("connection refused"));
        DistributedLock refused = lock("b", any -> {
            throw refusal;
        });
        assertThatThrownBy(() -> {
                    while (true) {
                        LockGroup.of(slow, refused).tryAcquire(maxWait);
                    }
                })
                .as("an error is an outage, however late")
                .isSameAs(refusal);
        assertThatThrownBy(() -> LockGroup.of(lock("a"), silent).tryAcquire(LONG))
                .as("with time enough")
                .isSameAs(silence);
        assertThatThrownBy(() -> LockGroup.of(lock("a"), silent).tryAcquire(Duration.ZERO))
                .as("one attempt has its request timeout")
                .isSameAs(silence);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) { // the time may be over before the first attempt
                        LockGroup.of(silent).tryAcquire(Duration.ofMillis(1));
                    }
                })
                .as("the first lock, as a lock alone")
                .isSameAs(silence);
    }

    @Test
    void S15_anAsynchronousLockWithoutAReplyInTheLastMomentIsNoOutage() {
        Duration maxWait = Duration.ofMillis(500);
        BackendUnavailableException silence = new BackendUnavailableException("no reply");
        boolean inTime = false;
        while (!inTime) {
            calls.clear();
            pending.clear();
            CompletableFuture<Optional<GroupLease>> acquiring =
                    LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(maxWait);
            spinUntilLeft(maxWait, Duration.ofMillis(30));
            reply("a").complete(Optional.of(lease("a")));
            inTime = calls.contains("acquire b");
            reply("b").completeExceptionally(silence);
            assertThat(acquiring).isCompletedWithValue(Optional.empty());
            assertThat(calls).endsWith("release a");
        }
        pending.clear();
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        reply("a").complete(Optional.of(lease("a")));
        reply("b").completeExceptionally(silence);
        assertThatThrownBy(acquiring::join).hasCause(silence);
    }

    private static void spinUntilLeft(Duration maxWait, Duration left) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < maxWait.minus(left).toNanos()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void S09_aLimitOfZeroMakesOneAttemptForEachLock() throws Exception {
        assertThat(LockGroup.of(lock("a"), lock("b")).tryAcquire(Duration.ZERO)).isPresent();
        assertThat(waits).containsEntry("a", Duration.ZERO).containsEntry("b", Duration.ZERO);
    }

    @Test
    void S08_aBusyLockRollsTheOthersBackInReverse() throws Exception {
        LockGroup group = LockGroup.of(lock("a"), lock("b"), lock("c", maxWait -> Optional.empty()), lock("d"));
        assertThat(group.tryAcquire(LONG)).isEmpty();
        assertThat(calls).containsExactly("acquire a", "acquire b", "acquire c", "release b", "release a");
    }

    @Test
    void S08_aFailureAndAnInterruptRollTheOthersBack() {
        DistributedLock failing = lock("b", maxWait -> {
            throw new BackendUnavailableException("no reply");
        });
        assertThatThrownBy(() -> LockGroup.of(lock("a"), failing).tryAcquire(LONG))
                .isInstanceOf(BackendUnavailableException.class);
        DistributedLock interrupted = lock("b", maxWait -> {
            throw new InterruptedException();
        });
        assertThatThrownBy(() -> LockGroup.of(lock("a"), interrupted).acquire())
                .isInstanceOf(InterruptedException.class);
        assertThat(calls).containsExactly("acquire a", "acquire b", "release a", "acquire a", "acquire b", "release a");
    }

    @Test
    void S08_aRollbackThatFailsSparesTheOtherLocks() throws Exception {
        DistributedLock broken = lock("b", maxWait -> Optional.of(brokenLease("b")));
        assertThat(LockGroup.of(lock("a"), broken, lock("c", maxWait -> Optional.empty()))
                        .tryAcquire(LONG))
                .isEmpty();
        assertThat(calls).endsWith("acquire c", "release a");
    }

    @Test
    void S05_aReleaseThatFailsSparesTheOtherLocks() throws Exception {
        DistributedLock broken = lock("b", maxWait -> Optional.of(brokenLease("b")));
        GroupLease group = LockGroup.of(lock("a"), broken, lock("c")).acquire();
        assertThatThrownBy(group::releaseAsync).isInstanceOf(LinkageError.class);
        assertThat(calls).contains("release a", "release c");
    }

    /** Returns a lease that cannot be released, as when a class of the store's client cannot be loaded. */
    private Lease brokenLease(String name) {
        Lease lease = lease(name);
        return (Lease) proxy(Lease.class, (proxy, method, args) -> {
            if (method.getName().startsWith("release")) {
                throw new NoClassDefFoundError("broken");
            }
            return method.invoke(lease, args);
        });
    }

    /** As a future of another library may do. */
    @Test
    void S08_S10_aWithdrawalThatFailsSparesTheOtherLocksAndEndsTheFuture() {
        pending.put("b", new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                throw new NoClassDefFoundError("broken");
            }
        });
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        reply("a").complete(Optional.of(lease("a")));
        assertThatThrownBy(() -> acquiring.cancel(true)).isInstanceOf(LinkageError.class);
        assertThat(calls).endsWith("release a");
        assertThat(acquiring).isCancelled();
    }

    @Test
    void S10_aCancelWithdrawsThePendingRequestAndGivesTheOthersBack() {
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b"), lock("c")).tryAcquireAsync(LONG);
        requireNonNull(pending.get("a")).complete(Optional.of(lease("a")));
        assertThat(calls).containsExactly("acquire a", "acquire b");
        acquiring.cancel(true);
        assertThat(pending.get("b")).isCancelled();
        assertThat(calls).containsExactly("acquire a", "acquire b", "release a");
    }

    /** The caller's own stage may request one of the locks again, so it runs after the release. */
    @ParameterizedTest
    @EnumSource
    void S08_aCallerThatEndsTheFutureFindsTheLocksGivenBack(EarlyEnd how) {
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        reply("a").complete(Optional.of(lease("a")));
        CompletableFuture<Boolean> told = acquiring.handle(
                (outcome, failure) -> calls.contains("release a") && reply("b").isCancelled());
        how.end(acquiring);
        assertThat(told).isCompletedWithValue(true);
        assertThat(acquiring.isCancelled()).as("the outcome is the caller's").isEqualTo(how == EarlyEnd.CANCEL);
        assertThat(acquiring.isCompletedExceptionally()).isEqualTo(how != EarlyEnd.COMPLETE);
    }

    private enum EarlyEnd {
        CANCEL,
        FAIL,
        COMPLETE;

        void end(CompletableFuture<Optional<GroupLease>> acquiring) {
            switch (this) {
                case CANCEL -> acquiring.cancel(false);
                case FAIL -> acquiring.completeExceptionally(new TimeoutException());
                case COMPLETE -> acquiring.complete(Optional.empty());
            }
        }
    }

    /** The lock's future completes with a lease although the group was ended: the grant had arrived already. */
    @Test
    void S08_aGrantThatArrivesAfterACancelIsGivenBack() {
        CompletableFuture<Optional<Lease>> stubborn = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false;
            }
        };
        pending.put("a", stubborn);
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        acquiring.cancel(true);
        stubborn.complete(Optional.of(lease("a")));
        assertThat(calls).containsExactly("acquire a", "release a");
    }

    @Test
    void anAsynchronousFailureIsThatOfTheLock() {
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        requireNonNull(pending.get("a")).complete(Optional.of(lease("a")));
        BackendUnavailableException failure = new BackendUnavailableException("no reply");
        requireNonNull(pending.get("b")).completeExceptionally(failure);
        assertThat(acquiring)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isSameAs(failure);
        assertThat(calls).endsWith("release a");
    }

    /** Nobody would look at it before the first work under the group. */
    @Test
    void S02_aGroupOneOfWhoseLocksWasLostDuringTheWaitIsGivenBack() {
        LossReason reason = new LossReason(LossReason.Kind.CLIENT_CLOSED, "during the wait");
        DistributedLock late = lock("b", maxWait -> {
            requireNonNull(losses.get("a")).complete(reason);
            return Optional.of(lease("b"));
        });
        assertThatThrownBy(() -> LockGroup.of(lock("a"), late).acquire())
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        loss -> assertThat(loss.lockName()).isEqualTo("a"));
        assertThat(calls).containsExactly("acquire a", "acquire b", "release b", "release a");
    }

    @Test
    void S02_anAsynchronousGroupOneOfWhoseLocksWasLostDuringTheWaitIsGivenBack() {
        CompletableFuture<Optional<GroupLease>> acquiring =
                LockGroup.of(lock("a"), lock("b")).tryAcquireAsync(LONG);
        reply("a").complete(Optional.of(lease("a")));
        requireNonNull(losses.get("a")).complete(new LossReason(LossReason.Kind.EXPIRED, "during the wait"));
        reply("b").complete(Optional.of(lease("b")));
        assertThat(acquiring)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LeaseLostException.class);
        assertThat(calls).containsExactly("acquire a", "acquire b", "release b", "release a");
    }

    @Test
    void S07_theFirstLossIsThatOfTheGroupAndTheOthersAreKept() throws Exception {
        GroupLease group = LockGroup.of(lock("a"), lock("bb")).acquire();
        assertThat(group.remaining()).isEqualTo(Duration.ofSeconds(1));
        CompletableFuture<GroupLease.Loss> lost = group.lost();
        requireNonNull(losses.get("bb")).complete(new LossReason(LossReason.Kind.REMOVED, "first"));
        requireNonNull(losses.get("a")).complete(new LossReason(LossReason.Kind.EXPIRED, "second"));
        assertThat(lost.join().lockName()).isEqualTo("bb");
        assertThat(lost.join().reason().detail()).isEqualTo("first");
        assertThat(group.isHeld()).isFalse();
        assertThat(calls).noneMatch(call -> call.startsWith("release"));
    }

    @Test
    void S05_theOutcomeIsTheWorstOfTheLocks() throws Exception {
        DistributedLock unknown = lock("b", maxWait -> Optional.of(lease("b", ReleaseOutcome.UNKNOWN)));
        DistributedLock lost = lock("c", maxWait -> Optional.of(lease("c", ReleaseOutcome.LOST)));
        assertThat(LockGroup.of(lock("a")).acquire().release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(LockGroup.of(lock("a"), unknown).acquire().release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(LockGroup.of(lock("a"), unknown, lost)
                        .acquire()
                        .releaseAsync()
                        .join())
                .isEqualTo(ReleaseOutcome.LOST);
    }
}
