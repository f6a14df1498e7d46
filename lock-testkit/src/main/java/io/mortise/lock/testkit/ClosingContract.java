// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that closing a client releases everything it holds, and that repeated use leaks no threads, memory or keys.
 *
 * <p>Rules S16, S17.
 */
interface ClosingContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S16_waitersAndLaterRequestsFail(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        try (Lease held = fixture().client().named("x").acquire()) {
            Future<Lease> waiting = fixture().start(() -> style.acquire(client.named("x")));
            Future<Optional<Lease>> bounded =
                    fixture().start(() -> style.tryAcquire(client.named("x"), ContractTestFixture.LONG));
            CompletableFuture<Lease> behind = client.named("x").acquireAsync(); // perhaps in a local queue
            ContractTestFixture.awaitWaiters(client, "x", 1);
            client.close();
            ContractTestFixture.eventually(
                    "waiters end",
                    ContractTestFixture.PROMPT,
                    () -> waiting.isDone() && bounded.isDone() && behind.isDone());
            assertThatThrownBy(() -> ApiStyle.result(behind)).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> ApiStyle.result(waiting)).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> ApiStyle.result(bounded)).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> style.acquire(client.named("y"))).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> style.tryAcquire(client.named("y"), Duration.ZERO))
                    .isInstanceOf(ClientClosedException.class);
            assertThat(held.isHeld()).isTrue();
        }
        fixture().assertFree(fixture().client(), "x");
    }

    @Test
    default void S16_closeNotifiesHoldersAndFreesTheirLocksAtOnce() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Lease one = client.named("one").acquire();
        Lease two = client.named("two").acquire();
        long start = System.nanoTime();
        client.close();
        assertThatCode(client::close).as("a second close").doesNotThrowAnyException();
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(ClientOptions.defaults().requestTimeout());
        for (Lease lease : List.of(one, two)) {
            assertThat(lease.isHeld()).isFalse();
            assertThat(ContractTestFixture.await(lease.lost()).kind()).isEqualTo(LossReason.Kind.CLIENT_CLOSED);
            fixture().assertFree(other, lease.lockName());
        }
    }

    /** A request that is pending when the client closes delivers no valid lease and leaves no grant in the store. */
    @Test
    default void S16_noLeaseIsDeliveredOnceCloseHasBegun() throws Exception {
        LockClient other = fixture().client();
        for (int round = 0; round < 15; round++) {
            LockClient client = fixture().client();
            List<CompletableFuture<Lease>> futures = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                futures.add(client.named("x" + i).acquireAsync());
            }
            Future<?> closing = fixture().start(() -> {
                client.close();
                return null;
            });
            for (int i = 5; i < 10; i++) {
                futures.add(client.named("x" + i).acquireAsync());
            }
            ApiStyle.result(closing);
            for (CompletableFuture<Lease> one : futures) {
                ContractTestFixture.eventually("each request completes", ContractTestFixture.PROMPT, one::isDone);
                if (!one.isCompletedExceptionally()) {
                    assertThat(one.join().isHeld()).as("held after close").isFalse();
                }
            }
            for (int i = 0; i < futures.size(); i++) {
                fixture().assertFree(other, "x" + i);
            }
        }
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S16_theClientsThreadsEnd() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient client = fixture().client();
        client.named("x").run(lease -> assertThat(lease.isHeld()).isTrue());
        client.named("x").acquireAsync().thenCompose(Lease::releaseAsync).join();
        client.close();
        fixture().awaitThreadsEnd(before);
    }

    /** Checks the heap: state that a client keeps for each name that it ever used would grow without bound. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S17_aClientKeepsNothingOfAnUnusedName() throws Exception {
        LockClient client = fixture().client();
        WeakReference<?> unreachable = new WeakReference<>(new Object());
        List<WeakReference<?>> refs = useOnce(client, fixture().client());
        try {
            ContractTestFixture.eventually("the objects are collected", Duration.ofSeconds(3), () -> {
                System.gc();
                LockSupport.parkNanos(50_000_000); // collections slow down tests that run at the same time
                return refs.stream().allMatch(one -> one.refersTo(null));
            });
        } catch (AssertionError e) {
            if (!unreachable.refersTo(null)) {
                throw ContractTestFixture.notVerified(
                        "S17 in the heap", "this JVM does not collect garbage on System.gc()");
            }
            throw new AssertionError(
                    "still reachable: " + refs.stream().map(Reference::get).toList(), e);
        }
        client.named("the client is still in use").acquire().close();
    }

    /** A separate method, so that no reference to the objects stays on the stack. */
    private static List<WeakReference<?>> useOnce(LockClient client, LockClient other) throws Exception {
        DistributedLock lock = client.named("once");
        Lease lease = lock.acquire();
        ContractTestFixture.assertWaitFails(ApiStyle.SYNC, lock, Duration.ofMillis(100));
        CompletableFuture<Lease> cancelled = lock.acquireAsync();
        cancelled.cancel(true);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease held = other.named("busy").acquire();
        CompletableFuture<Optional<Lease>> tried = client.named("busy").tryAcquireAsync(Duration.ZERO);
        assertThat(tried.join()).as("a lock that the client never had").isEmpty();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        return Stream.of(lock, lease, cancelled, tried)
                .<WeakReference<?>>map(WeakReference::new)
                .toList();
    }

    @Test
    default void S17_namesUsedOnceLeaveNothing() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractTestFixture.admin(client, "S17");
        List<Future<?>> workers = new ArrayList<>();
        for (int w = 0; w < 4; w++) {
            int worker = w;
            workers.add(fixture().start(() -> {
                for (int i = 0; i < 100; i++) {
                    client.named("once/" + worker + "/" + i).acquire().close();
                }
                return null;
            }));
        }
        ApiStyle.awaitAll(workers);
        ContractTestFixture.eventually(
                "the list of locks is empty",
                ContractTestFixture.PROMPT,
                () -> ContractTestFixture.await(admin.list("", 10_000, ""))
                        .locks()
                        .isEmpty());
    }
}
