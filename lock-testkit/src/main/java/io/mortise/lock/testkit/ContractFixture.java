// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** Fixture of one conformance test: the backend, its clients and threads. Closed after the test. */
public final class ContractFixture implements AutoCloseable {
    /** Far longer than anything that is under test may take; a hang becomes a failure. */
    static final Duration LONG = Duration.ofSeconds(30);

    /** What a rule that says "at once" or 50 ms may take on a slow machine. */
    static final Duration PROMPT = Duration.ofSeconds(3);

    /** For a waiter to have asked where nobody can see it wait. */
    private static final Duration TO_HAVE_ASKED = Duration.ofMillis(150);

    static final String THREAD_NAME = "conformance-";

    private final BackendUnderTest backend;
    private final List<LockClient> clients = new CopyOnWriteArrayList<>();
    private final FaultInjector nemesis;
    private final AtomicInteger threadCount = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, THREAD_NAME + threadCount.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    });

    ContractFixture(BackendUnderTest backend) {
        this.backend = backend;
        this.nemesis = new FaultInjector(backend.faults());
    }

    BackendUnderTest backend() {
        return backend;
    }

    /** A new client, as another process would have. */
    LockClient client() {
        return client(ClientOptions.defaults());
    }

    LockClient client(ClientOptions options) {
        LockClient client = backend.open(options);
        clients.add(client);
        return client;
    }

    /** Leases of {@link BackendUnderTest#lease()}. */
    LockOptions shortLease(LockClient client) {
        return client.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? LockOptions.defaults().leaseDuration(backend.lease())
                : LockOptions.defaults();
    }

    /** Runs it on a thread of the fixture. */
    <T> Future<T> start(Callable<T> task) {
        return threads.submit(task);
    }

    /** What a release takes here, without anybody waiting: the shortest of several. */
    Duration releaseTime(LockClient client) throws InterruptedException {
        Duration shortest = PROMPT;
        for (int i = 0; i < 5; i++) {
            Lease lease = client.named("timed").acquire();
            long start = System.nanoTime();
            lease.release();
            Duration took = DurationAssertions.since(start);
            shortest = Durations.shorter(took, shortest);
        }
        return shortest;
    }

    /**
     * Releases on another thread while the caller does what comes next: in each round the one begins somewhat earlier or later
     * than the other, by up to {@code spread}, so that the rounds together meet every moment.
     */
    Future<ReleaseOutcome> releaseMeanwhile(Lease held, int round, Duration spread) throws Exception {
        long ahead = spread.toNanos() * (round % 50 - 25) / 25;
        CyclicBarrier together = new CyclicBarrier(2);
        Future<ReleaseOutcome> released = start(() -> {
            together.await();
            spin(ahead);
            return held.release();
        });
        together.await();
        spin(-ahead);
        return released;
    }

    private static void spin(long nanos) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos) {
            Thread.onSpinWait();
        }
    }

    /** The operator's view, or the test is aborted. */
    static LockAdmin admin(LockClient client, String rule) {
        Optional<LockAdmin> admin = client.admin();
        return admin.orElseThrow(() -> notVerified(rule, "this backend has no LockAdmin"));
    }

    /** Breaks what the backend lets it break. */
    FaultInjector nemesis() {
        return nemesis;
    }

    /** Aborts a test that has no meaning for this backend. */
    static void onlyIf(LockClient client, Capability capability) {
        Assumptions.assumeTrue(client.capabilities().contains(capability), () -> "not claimed: " + capability);
    }

    /** Aborts: reported beside what passed and what failed. */
    static RuntimeException notVerified(String rule, String why) {
        return Assumptions.abort("NOT VERIFIED: " + rule + ": " + why);
    }

    static <T> T await(CompletionStage<T> stage) throws InterruptedException {
        return ApiStyle.result(stage.toCompletableFuture());
    }

    static LockStatus status(LockAdmin admin, String name) throws InterruptedException {
        return await(admin.status(name));
    }

    /** Polls until it is true; fails with the words and the time when it is not within the time. */
    static void eventually(String what, Duration within, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (true) {
            boolean last = System.nanoTime() - start > within.toNanos(); // a check after a stall of this thread counts
            if (condition.call()) {
                return;
            }
            if (last) {
                Assertions.fail(what + ": not within " + within);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    /** For {@link #eventually}: true once so much time has passed. */
    static Callable<Boolean> timePasses(Duration time) {
        long start = System.nanoTime();
        return () -> System.nanoTime() - start >= time.toNanos();
    }

    /** S05: LOST is said of a lease that was lost by time and told so; where only a reply is missing it is not LOST. */
    static void assertHonest(ReleaseOutcome outcome, Lease lease) throws InterruptedException {
        if (outcome == ReleaseOutcome.LOST) {
            CompletableFuture<LossReason> lost = lease.lost();
            Assertions.assertDoesNotThrow(
                    () -> lost.get(PROMPT.toMillis(), TimeUnit.MILLISECONDS), "LOST, and not told so");
            Assertions.assertNotEquals(LossReason.Kind.REMOVED, lost.join().kind(), "LOST, though nobody removed it");
        }
    }

    /** The store's own count, or the test is aborted. */
    long requests(String rule) {
        return backend.requests().orElseThrow(() -> notVerified(rule, "BackendUnderTest.requests tells no number"));
    }

    /** Its URL, or the test is aborted. */
    String url(String rule) {
        return backend.url().orElseThrow(() -> notVerified(rule, "BackendUnderTest.url tells none"));
    }

    /** A new client by URL, as another process would have. */
    LockClient clientByUrl(String rule, ClientOptions options, Capability... required) {
        LockClient client = Locks.connect(url(rule), options, required);
        clients.add(client);
        return client;
    }

    /** Nobody holds the lock any more, nor waits for it, as far as can be seen: within {@link #PROMPT} it can be had. */
    void assertFree(LockClient other, String name) throws Exception {
        if (other.admin().isPresent()) {
            LockAdmin admin = other.admin().orElseThrow();
            eventually("no waiter and no holder of \"" + name + "\" left", PROMPT, () -> {
                LockStatus status = status(admin, name);
                return status.holders().isEmpty() && status.waiters().isEmpty();
            });
        }
        Optional<Lease> lease = other.named(name).tryAcquire(PROMPT);
        Assertions.assertTrue(lease.isPresent(), () -> "\"" + name + "\" is not free");
        lease.orElseThrow().close();
    }

    /** Waits until the store shows so many waiters. Where it keeps no queue they get a moment to have asked, at least. */
    static void awaitWaiters(LockClient client, String name, int count) throws Exception {
        if (client.admin().isPresent() && client.capabilities().contains(Capability.FAIR)) {
            LockAdmin admin = client.admin().orElseThrow();
            eventually(
                    count + " waiters are seen",
                    LONG,
                    () -> status(admin, name).waiters().size() >= count);
        } else {
            eventually("a moment passes", LONG, timePasses(TO_HAVE_ASKED));
        }
    }

    /** Waits so long for a lock that another holds. In so short a time a loaded server need not even have said "busy": false. */
    static boolean waitInVain(ApiStyle style, DistributedLock lock, Duration maxWait) throws InterruptedException {
        try {
            Optional<Lease> lease = style.tryAcquire(lock, maxWait);
            Assertions.assertTrue(lease.isEmpty(), () -> "granted though another holds it: " + lease);
            return true;
        } catch (BackendUnavailableException e) {
            return false; // no answer in time (S15)
        }
    }

    /** S10: an interrupted waiter for a lock that it cannot get returns within 50 ms. */
    void assertInterruptReturnsAtOnce(DistributedLock lock) throws Exception {
        DurationAssertions.overshoot("from interrupt to InterruptedException", PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<Long> waiting = start(() -> {
                thread.complete(Thread.currentThread());
                Assertions.assertThrows(InterruptedException.class, lock::acquire);
                return System.nanoTime();
            });
            Thread waiter = ApiStyle.result(thread);
            eventually("the waiter waits", LONG, () -> waits(waiter));
            long start = System.nanoTime();
            waiter.interrupt();
            return Duration.ofNanos(ApiStyle.result(waiting) - start);
        });
    }

    /** Blocked in a wait, with or without a time limit. */
    static boolean waits(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    @Override
    public void close() {
        boolean interrupted = Thread.interrupted(); // by a test that failed: it must not fail what ends the faults
        try (backend) {
            try (nemesis) {
                threads.shutdown(); // whoever still waits fails when its client closes, or by the interrupt
            } finally {
                clients.forEach(LockClient::close); // which never throws (S16)
                threads.shutdownNow();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
