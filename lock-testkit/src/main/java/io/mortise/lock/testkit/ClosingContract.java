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
import io.mortise.lock.testkit.proxy.TcpProxy;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract of closing (S16), and that nothing grows with use (S17). */
interface ClosingContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S16_waitersFailAndNothingCanBeAskedAnyMore(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        try (Lease held = fixture().client().named("x").acquire()) {
            Future<Lease> waiting = fixture().start(() -> style.acquire(client.named("x")));
            Future<Optional<Lease>> bounded =
                    fixture().start(() -> style.tryAcquire(client.named("x"), ContractFixture.LONG));
            ContractFixture.awaitWaiters(client, "x", 1);
            client.close();
            ContractFixture.eventually(
                    "waiters end", ContractFixture.PROMPT, () -> waiting.isDone() && bounded.isDone());
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
    default void S16_holdersAreToldAndTheirLocksAreFreeAtOnce() throws Exception {
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
            assertThat(ContractFixture.await(lease.lost()).kind()).isEqualTo(LossReason.Kind.CLIENT_CLOSED);
            fixture().assertFree(other, lease.lockName());
        }
    }

    /** Requests that are under way when the client closes: none is delivered held, none is left in the store. */
    @Test
    default void S16_noLeaseIsDeliveredOnceCloseHasBegun() throws Exception {
        LockClient other = fixture().client();
        for (int round = 0; round < 15; round++) {
            LockClient client = fixture().client();
            List<CompletableFuture<Lease>> asked = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                asked.add(client.named("x" + i).acquireAsync());
            }
            Future<?> closing = fixture().start(() -> {
                client.close();
                return null;
            });
            for (int i = 5; i < 10; i++) {
                asked.add(client.named("x" + i).acquireAsync());
            }
            ApiStyle.result(closing);
            for (CompletableFuture<Lease> one : asked) {
                ContractFixture.eventually("each request has an outcome", ContractFixture.PROMPT, one::isDone);
                if (!one.isCompletedExceptionally()) {
                    assertThat(one.join().isHeld()).as("held after close").isFalse();
                }
            }
            for (int i = 0; i < asked.size(); i++) {
                fixture().assertFree(other, "x" + i);
            }
        }
    }

    @Test
    default void S16_theClientsThreadsEnd() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient client = fixture().client();
        client.named("x").run(lease -> assertThat(lease.isHeld()).isTrue());
        client.named("x").acquireAsync().thenCompose(Lease::releaseAsync).join();
        client.close();
        List<String> left = new ArrayList<>();
        try {
            ContractFixture.eventually("threads end", Duration.ofSeconds(5), () -> {
                left.clear();
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread) && thread.isAlive() && isClients(thread))
                        .forEach(thread -> left.add(thread.getName()));
                return left.isEmpty();
            });
        } catch (AssertionError e) {
            throw new AssertionError("threads left: " + left, e);
        }
    }

    private boolean isClients(Thread thread) {
        String name = thread.getName();
        return !name.startsWith(ContractFixture.THREAD_NAME)
                && !name.startsWith(TcpProxy.THREAD_NAME)
                && !name.startsWith("junit-")
                && !name.startsWith("ForkJoinPool.commonPool") // the JVM's own, shared by all
                && !name.startsWith("CompletableFutureDelayScheduler")
                && !name.startsWith("process reaper")
                && !fixture().backend().isServerThread(thread);
    }

    /** In the heap: what a client keeps for each name that it was ever asked for grows without end. */
    @Test
    default void S17_aClientKeepsNothingOfANameThatIsOver() throws Exception {
        LockClient client = fixture().client();
        WeakReference<?> nobodys = new WeakReference<>(new Object());
        List<WeakReference<?>> over = useOnce(client);
        try {
            ContractFixture.eventually("they are collected", Duration.ofSeconds(3), () -> {
                System.gc();
                LockSupport.parkNanos(50_000_000); // a collection is no light matter for whatever runs beside it
                return over.stream().allMatch(one -> one.refersTo(null));
            });
        } catch (AssertionError e) {
            if (!nobodys.refersTo(null)) {
                throw ContractFixture.notVerified("S17 in the heap", "this JVM does not collect garbage when asked to");
            }
            throw new AssertionError(
                    "still kept: " + over.stream().map(Reference::get).toList(), e);
        }
        client.named("the client is still in use").acquire().close();
    }

    /** In a frame of its own, so that nothing of it is left on the stack. */
    private static List<WeakReference<?>> useOnce(LockClient client) throws Exception {
        DistributedLock lock = client.named("once");
        Lease lease = lock.acquire();
        ContractFixture.waitInVain(ApiStyle.SYNC, lock, Duration.ofMillis(100));
        CompletableFuture<Lease> cancelled = lock.acquireAsync();
        cancelled.cancel(true);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        return List.of(new WeakReference<>(lock), new WeakReference<>(lease), new WeakReference<>(cancelled));
    }

    @Test
    default void S17_namesUsedOnceLeaveNothing() throws Exception {
        LockClient client = fixture().client();
        ContractFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractFixture.admin(client, "S17");
        List<Future<?>> workers = new ArrayList<>();
        for (int w = 0; w < 4; w++) {
            int worker = w;
            workers.add(fixture().start(() -> {
                for (int i = 0; i < 250; i++) {
                    client.named("once/" + worker + "/" + i).acquire().close();
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            ApiStyle.result(worker);
        }
        ContractFixture.eventually(
                "no lock is left",
                ContractFixture.PROMPT,
                () -> ContractFixture.await(admin.list("", 10_000, "")).locks().isEmpty());
    }
}
