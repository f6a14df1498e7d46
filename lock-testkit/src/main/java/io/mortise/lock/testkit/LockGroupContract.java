// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.recipe.GroupLease;
import io.mortise.lock.recipe.LockGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that the locks of a {@link LockGroup} are granted, rolled back and lost as a whole. */
interface LockGroupContract extends Contract {
    private static Optional<GroupLease> tryAcquire(ApiStyle style, LockGroup group, Duration maxWait)
            throws InterruptedException {
        return style == ApiStyle.SYNC ? group.tryAcquire(maxWait) : ApiStyle.result(group.tryAcquireAsync(maxWait));
    }

    private static LockGroup group(LockClient client, String... names) {
        return LockGroup.of(List.of(names).stream().map(client::named).toList());
    }

    @ParameterizedTest
    @EnumSource
    default void S01_aGroupIsGrantedAsAWhole(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease held = two.named("b").acquire();
        LockGroup group = group(one, "c", "b", "a");
        assertThat(tryAcquire(style, group, Duration.ZERO))
                .as("while one lock is busy")
                .isEmpty();
        fixture().assertFree(two, "a");
        fixture().assertFree(two, "c");
        held.close();
        GroupLease leases = tryAcquire(style, group, ContractTestFixture.LONG).orElseThrow();
        assertThat(leases.isHeld()).isTrue();
        assertThat(leases.leases()).extracting(Lease::lockName).containsExactly("a", "b", "c");
        if (one.capabilities().contains(Capability.FENCING)) {
            assertThat(leases.fencingTokens().get("b")).isGreaterThan(held.fencingToken());
        }
        for (String name : List.of("a", "b", "c")) {
            assertThat(two.named(name).tryAcquire())
                    .as("lock %s of the group", name)
                    .isEmpty();
        }
        assertThat(style == ApiStyle.SYNC ? leases.release() : ApiStyle.result(leases.releaseAsync()))
                .isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(leases.isHeld()).isFalse();
        for (String name : List.of("a", "b", "c")) {
            fixture().assertFree(two, name);
        }
    }

    /** Each pair of groups shares two locks, which the application names in opposite orders. */
    @Test
    default void S01_groupsInOppositeOrdersDoNotDeadlock() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        List<Future<Integer>> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            LockClient client = fixture().client();
            LockGroup group = i == 0 ? group(client, "a", "b", "c") : group(client, "c", "b", "a");
            workers.add(fixture().start(() -> {
                for (int n = 0; n < 10; n++) {
                    Optional<GroupLease> granted = group.tryAcquire(ContractTestFixture.LONG);
                    assertThat(granted).as("the group, without a deadlock").isPresent();
                    GroupLease leases = granted.orElseThrow();
                    assertThat(inside.incrementAndGet()).as("groups at a time").isEqualTo(1);
                    inside.decrementAndGet();
                    assertThat(leases.release()).isEqualTo(ReleaseOutcome.RELEASED);
                }
                return 10;
            }));
        }
        for (Future<Integer> worker : workers) {
            assertThat(ApiStyle.result(worker)).isEqualTo(10);
        }
    }

    @Test
    default void S10_anInterruptRollsTheWholeGroupBack() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease held = two.named("b").acquire();
        LockGroup group = group(one, "a", "b");
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<Boolean> waiting = fixture().start(() -> {
            thread.complete(Thread.currentThread());
            assertThatThrownBy(group::acquire).isInstanceOf(InterruptedException.class);
            return true;
        });
        ContractTestFixture.awaitGrant(two, "a");
        ContractTestFixture.awaitWaiters(two, "b", 1);
        ApiStyle.result(thread).interrupt();
        assertThat(ApiStyle.result(waiting)).isTrue();
        fixture().assertFree(two, "a");
        fixture().assertNoWaiters(two, "b");
        held.close();
        fixture().assertFree(two, "b");
    }

    @Test
    default void S10_aCancelRollsTheWholeGroupBack() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease held = two.named("b").acquire();
        CompletableFuture<GroupLease> waiting = group(one, "a", "b").acquireAsync();
        ContractTestFixture.awaitGrant(two, "a");
        ContractTestFixture.awaitWaiters(two, "b", 1);
        waiting.cancel(true);
        fixture().assertFree(two, "a");
        fixture().assertNoWaiters(two, "b");
        held.close();
        fixture().assertFree(two, "b");
    }

    /** The other leases are kept: the application may still work under them. */
    @Test
    default void S07_aGroupIsLostWithItsFirstMember() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        GroupLease leases = LockGroup.of(
                        one.named("a", fixture().shortLease(one)),
                        one.named("b", fixture().shortLease(one)))
                .acquire();
        fixture().forceRelease("b", two, "S07");
        Duration bound = fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("the loss is detected", bound, () -> !leases.isHeld());
        assertThat(ApiStyle.result(leases.lost()).lockName()).isEqualTo("b");
        assertThat(leases.lease("a").isHeld()).as("the other lease").isTrue();
        assertThat(two.named("a").tryAcquire()).as("the other lock").isEmpty();
        assertThat(leases.release()).isEqualTo(ReleaseOutcome.LOST);
        fixture().assertFree(two, "a");
        fixture().assertFree(two, "b");
    }

    /** Two of the locks become free one after the other, so that each of them has used a part of the limit. */
    @ParameterizedTest
    @EnumSource
    default void S09_aGroupWaitsForAllItsLocksTogether(ApiStyle style) throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Duration limit = Duration.ofMillis(900);
        Lease busy = holder.named("c").acquire();
        LockGroup group = group(waiter, "a", "b", "c");
        DurationAssertions.overshoot("S09: beyond maxWait", ContractTestFixture.PROMPT, Duration.ofMillis(50), () -> {
            Lease first = holder.named("a").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            Lease second =
                    holder.named("b").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            Future<ReleaseOutcome> released = fixture().start(() -> {
                ContractTestFixture.letPass("a part of the limit", limit.dividedBy(3));
                first.release();
                ContractTestFixture.letPass("another part of the limit", limit.dividedBy(3));
                return second.release();
            });
            long start = System.nanoTime();
            try {
                assertThat(tryAcquire(style, group, limit)).isEmpty();
            } catch (BackendUnavailableException e) {
                // a loaded server may not reply in the rest of the time (S15)
            }
            Duration took = DurationAssertions.since(start);
            ApiStyle.result(released);
            return took.minus(limit);
        });
        assertThat(busy.release()).isEqualTo(ReleaseOutcome.RELEASED);
        for (String name : List.of("a", "b", "c")) {
            fixture().assertFree(holder, name);
        }
    }

    /** The second lock is one of another client, as of another store, which does not respond. */
    @ParameterizedTest
    @EnumSource
    default void S15_aSilentMemberFailsTheGroupAndFreesTheOthers(ApiStyle style) throws Exception {
        LockClient healthy = fixture().client();
        LockClient silent = fixture().client();
        fixture().faultInjector().silence(silent, "S15 in a group");
        LockGroup group = LockGroup.of(healthy.named("a"), silent.named("b"));
        assertThatThrownBy(() -> tryAcquire(style, group, ContractTestFixture.PROMPT))
                .isInstanceOf(BackendUnavailableException.class);
        fixture().assertFree(healthy, "a");
    }
}
