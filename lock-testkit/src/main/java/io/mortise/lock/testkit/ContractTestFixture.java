// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.testkit.report.RuleNotCheckedException;
import io.mortise.lock.testkit.report.TestRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.opentest4j.TestAbortedException;

/** Test fixture of one conformance test, with the backend, its clients and helper threads; closed after the test. */
public final class ContractTestFixture implements AutoCloseable {
    /** A limit far above what any tested operation may take, which turns a hang into a failure. */
    static final Duration LONG = Duration.ofSeconds(30);

    private static final long SHORTEST_POLL_NANOS = 1_000_000;
    private static final long LONGEST_POLL_NANOS = 20_000_000;

    /** Upper bound, on a slow machine, for what a rule requires "at once" or within 50 ms. */
    static final Duration PROMPT = Duration.ofSeconds(3);

    /** Time that a waiter gets to send its request if the store does not show waiters. */
    private static final Duration TIME_TO_QUEUE = Duration.ofMillis(150);

    static final String THREAD_NAME = "conformance-";

    private final Supplier<BackendUnderTest> backends;
    private final BackendUnderTest backend;
    private final TestRecorder recorder;
    private final List<LockClient> clients = new CopyOnWriteArrayList<>();
    private final FaultInjector faultInjector;
    private final AtomicInteger threadCount = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, THREAD_NAME + threadCount.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    });

    /** @param backends returns a new backend with an empty namespace */
    ContractTestFixture(Supplier<BackendUnderTest> backends, TestRecorder recorder) {
        this.backends = backends;
        this.backend = backends.get();
        this.recorder = recorder;
        this.faultInjector = new FaultInjector(backend.faults(), recorder);
        recorder.facts(BackendFactsReader.read(backend, Set.of()));
    }

    /** Returns a fixture with a new backend, for a part of the test that needs no more than that; close it after the part. */
    ContractTestFixture another() {
        return new ContractTestFixture(backends, recorder);
    }

    BackendUnderTest backend() {
        return backend;
    }

    /** Returns the recorder of this test's requests, grants and faults. */
    TestRecorder recorder() {
        return recorder;
    }

    /** Opens a new client with its own connections, as another process would have. */
    LockClient client() {
        return client(ClientOptions.defaults().connectTimeout(LONG)); // a cold start on a busy machine
    }

    LockClient client(ClientOptions options) {
        LockClient client = recorder.open(() -> backend.open(options));
        clients.add(client);
        if (clients.size() == 1) {
            recorder.facts(BackendFactsReader.read(backend, client.capabilities()));
        }
        return client;
    }

    /** Returns options for leases of {@link BackendUnderTest#lease()}. */
    LockOptions shortLease(LockClient client) {
        return client.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? LockOptions.defaults().leaseDuration(backend.lease())
                : LockOptions.defaults();
    }

    /** Returns options for leases of 1 s if the backend grants them, else for short leases. */
    LockOptions shortestLease(LockClient client) {
        Duration shortest = Duration.ofSeconds(1);
        return client.capabilities().contains(Capability.PER_LOCK_LEASE) && grants(client, shortest)
                ? LockOptions.defaults().leaseDuration(shortest)
                : shortLease(client);
    }

    /** Returns options for leases whose removal no renewal detects before the store's notification, if the store sends one. */
    LockOptions leaseToRemove(LockClient client) {
        return backend.removalNotifiedWithin().compareTo(backend.lease()) < 0
                ? LockOptions.defaults()
                : shortLease(client);
    }

    /** Acquires short leases of that many locks, whose names are the prefix and a number, with all requests under way at once. */
    List<Lease> acquireAll(LockClient client, String prefix, int count) throws InterruptedException {
        return acquireAll(client, prefix, count, shortLease(client));
    }

    /** Acquires that many locks, whose names are the prefix and a number, with all requests under way at once. */
    List<Lease> acquireAll(LockClient client, String prefix, int count, LockOptions options)
            throws InterruptedException {
        List<CompletableFuture<Lease>> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.add(client.named(prefix + i, options).acquireAsync());
        }
        List<Lease> leases = new ArrayList<>();
        for (CompletableFuture<Lease> request : requests) {
            leases.add(ApiStyle.result(request));
        }
        return leases;
    }

    /**
     * Returns whether the backend grants leases of that duration: it may have limits of its own, and then refuses them before any
     * request (S14).
     */
    static boolean grants(LockClient client, Duration leaseDuration) {
        try {
            client.named("x", LockOptions.defaults().leaseDuration(leaseDuration));
            return true;
        } catch (IllegalArgumentException e) {
            Assertions.assertTrue(
                    String.valueOf(e.getMessage()).contains(leaseDuration.toString()),
                    () -> "S14: a refusal that names " + leaseDuration + ": " + e);
            return false;
        }
    }

    /** Returns the first of the lease durations that the backend grants; aborts the test if it grants none of them. */
    static Duration firstGranted(LockClient client, Duration... leaseDurations) {
        return Arrays.stream(leaseDurations)
                .filter(duration -> grants(client, duration))
                .findFirst()
                .orElseThrow(() -> RuleNotCheckedException.notApplicable(
                        "this backend grants no lease of " + Arrays.toString(leaseDurations)));
    }

    /** Returns the lease duration in force for a requested one, which a backend may round up (S14). */
    Duration leaseInForce(LockClient client, Duration requested) {
        Duration inForce = recorder.backend(client)
                .map(opened -> opened.leaseDuration(Optional.of(requested)))
                .orElse(requested);
        Assertions.assertFalse(
                inForce.compareTo(requested) < 0,
                () -> "S14: a lease duration of " + requested + " is not rounded up, but to " + inForce);
        return inForce;
    }

    /**
     * Returns the first of the delays that the backend accepts for a delayed release, or else {@link BackendUnderTest#lease()}. It
     * is rounded up as a lease is, since a store may keep the lock by a last lease.
     */
    Duration acceptedDelay(LockClient client, Duration... delays) {
        return Arrays.stream(delays)
                .filter(delay -> accepts(client, delay))
                .findFirst()
                .map(delay -> roundedUp(client, delay))
                .orElse(backend.lease());
    }

    private boolean accepts(LockClient client, Duration releaseDelay) {
        try {
            recorder.backend(client).ifPresent(opened -> opened.checkReleaseDelay(releaseDelay));
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private Duration roundedUp(LockClient client, Duration delay) {
        return client.capabilities().contains(Capability.PER_LOCK_LEASE) && grants(client, delay)
                ? leaseInForce(client, delay)
                : delay;
    }

    /** Returns by how much the store may exceed a delay that it keeps by a last lease, which is at least 1 s and rounded up. */
    Duration longestRounding(LockClient client) {
        Duration shortest = Duration.ofSeconds(1);
        return roundedUp(client, shortest).minus(shortest);
    }

    /** Returns the longest delay that a backend has to allow. */
    Duration longestDelay(LockClient client) {
        return acceptedDelay(
                client, backend.lease().multipliedBy(3), backend.lease().multipliedBy(2));
    }

    /** Runs the task on a thread of the fixture. */
    <T> Future<T> start(Callable<T> task) {
        return threads.submit(task);
    }

    /** Returns how long a release takes here if no client waits: the shortest of several. */
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
     * Releases the lease on another thread while the caller continues. From round to round the release starts earlier or later
     * than the caller's next step, by up to {@code spread}, so that the rounds together cover all interleavings.
     */
    Future<ReleaseOutcome> releaseConcurrently(Lease held, int round, Duration spread) throws Exception {
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

    /** Returns what the code throws; aborts the test if the code does so, because the kit cannot check something in it. */
    static @Nullable Throwable thrownBy(ThrowingCallable code) {
        Throwable thrown = catchThrowable(code);
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
        if (cause instanceof TestAbortedException aborted) {
            throw aborted;
        }
        return thrown;
    }

    /** Returns the client's {@link LockAdmin}, or aborts the test if the backend has none. */
    static LockAdmin admin(LockClient client, String rule) {
        Optional<LockAdmin> admin = client.admin();
        return admin.orElseThrow(() -> notVerified(rule, "this backend has no LockAdmin"));
    }

    /**
     * Removes the grant of a lock as an operator does: with the store's own tools, or else by a forced release. Aborts the test
     * if the backend supports neither.
     */
    void removeGrant(String name, LockClient operator, String rule) throws InterruptedException {
        if (!faultInjector.tryDeleteGrant(name)) {
            forceRelease(admin(operator, rule), name);
        }
    }

    /**
     * Removes the grant of a lock by a forced release or, if the backend has no {@link LockAdmin}, with the store's own tools.
     * Aborts the test if the backend supports neither.
     */
    void forceRelease(String name, LockClient operator, String rule) throws InterruptedException {
        if (operator.admin().isPresent()) {
            forceRelease(operator.admin().get(), name);
        } else {
            faultInjector.deleteGrant(name, rule);
        }
    }

    /** Removes the grant of the current holder by a forced release. */
    static void forceRelease(LockAdmin admin, String name) throws InterruptedException {
        LockHolder seen = status(admin, name).holders().get(0);
        Assertions.assertTrue(await(admin.forceRelease(name, seen)), () -> "forced release of " + seen);
    }

    /** Returns the injector of those faults that the backend supports. */
    FaultInjector faultInjector() {
        return faultInjector;
    }

    /** Aborts the test if the backend does not claim the capability. */
    static void onlyIf(LockClient client, Capability capability) {
        if (!client.capabilities().contains(capability)) {
            throw RuleNotCheckedException.notClaimed(capability.name());
        }
    }

    /** Returns the exception to throw so that the rule is reported as neither passed nor failed. */
    static RuntimeException notVerified(String rule, String why) {
        return RuleNotCheckedException.notVerified(rule, why, null);
    }

    static <T> T await(CompletionStage<T> stage) throws InterruptedException {
        return ApiStyle.result(stage.toCompletableFuture());
    }

    static LockStatus status(LockAdmin admin, String name) throws InterruptedException {
        return await(admin.status(name));
    }

    /** Reads all pages of at most {@code limit} locks, one after the other. */
    static void eachPage(LockAdmin admin, String prefix, int limit, int mostPages, Consumer<LockAdmin.Page> reader)
            throws InterruptedException {
        String cursor = "";
        int pages = 0;
        do {
            LockAdmin.Page page = await(admin.list(prefix, limit, cursor));
            int size = page.locks().size();
            Assertions.assertTrue(size <= limit, () -> size + " locks in a page of " + limit);
            reader.accept(page);
            cursor = page.next().orElse("");
            pages++;
            Assertions.assertTrue(pages < mostPages, "more than " + mostPages + " pages");
        } while (!cursor.isEmpty());
    }

    /** Waits until the store has granted the lock to another client, which may not know it yet. */
    static void awaitGrant(LockClient observer, String name) throws Exception {
        eventually("the store has granted the lock", LONG, () -> {
            Optional<Lease> free = observer.named(name).tryAcquire();
            free.ifPresent(Lease::release);
            return free.isEmpty();
        });
    }

    /**
     * Polls until the condition is true; fails with {@code what} in the message if it is not true within the limit. Polls less and
     * less often, by a thirtieth of the time that has passed, since tests run side by side.
     */
    static void eventually(String what, Duration within, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (true) {
            long passed = System.nanoTime() - start;
            boolean last = passed > within.toNanos(); // a check after a stall of this thread counts
            if (condition.call()) {
                return;
            }
            if (last) {
                Assertions.fail(what + ": not within " + within);
            }
            LockSupport.parkNanos(Math.min(Math.max(passed / 30, SHORTEST_POLL_NANOS), LONGEST_POLL_NANOS));
        }
    }

    /** Waits until the waiter is granted the lock of an unresponsive holder, and asserts that the leases are not both held. */
    void awaitTakeover(Future<Lease> waiting, Lease old) throws Exception {
        eventually("S11: the waiter is granted the lock", backend.takeoverWithin(), () -> {
            boolean granted = waiting.isDone();
            Assertions.assertFalse(granted && old.isHeld(), "S02: two leases are held");
            return granted;
        });
    }

    /** Waits until the threads of clients that did not exist before have ended. */
    void awaitThreadsEnd(Set<Thread> before) throws Exception {
        List<String> remaining = new ArrayList<>();
        try {
            eventually("threads end", Duration.ofSeconds(5), () -> {
                remaining.clear();
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread) && thread.isAlive() && belongsToAClient(thread))
                        .forEach(thread -> remaining.add(thread.getName()));
                return remaining.isEmpty();
            });
        } catch (AssertionError e) {
            throw new AssertionError("threads remaining: " + remaining, e);
        }
    }

    private boolean belongsToAClient(Thread thread) {
        String name = thread.getName();
        return !name.startsWith(THREAD_NAME)
                && !name.startsWith(TcpProxy.THREAD_NAME)
                && !name.startsWith("junit-")
                && !name.startsWith("ForkJoinPool.commonPool") // the JVM's own, shared by all
                && !name.startsWith("CompletableFutureDelayScheduler")
                && !name.startsWith("process reaper")
                && !backend.isServerThread(thread);
    }

    /** A part of a test that may fail. */
    interface Check {
        void run() throws Exception;
    }

    /** Waits until the time has passed. */
    static void letPass(String what, Duration time) throws Exception {
        throughout(what, time, () -> {});
    }

    /** Runs the check again and again until the time has passed. */
    static void throughout(String what, Duration time, Check check) throws Exception {
        Callable<Boolean> passed = timePasses(time);
        eventually(what, time.plus(LONG), () -> {
            check.run();
            return passed.call();
        });
    }

    /** Returns a condition for {@link #eventually} that becomes true when the time has passed. */
    static Callable<Boolean> timePasses(Duration time) {
        long start = System.nanoTime();
        return () -> System.nanoTime() - start >= time.toNanos();
    }

    /** S03: asserts that the tokens of one lock's grants increase in this order, if the backend has tokens. */
    static void assertTokensIncrease(LockClient client, Lease... grants) {
        if (client.capabilities().contains(Capability.FENCING)) {
            for (int i = 1; i < grants.length; i++) {
                assertThat(grants[i].fencingToken()).as("S03").isGreaterThan(grants[i - 1].fencingToken());
            }
        }
    }

    /**
     * S05: LOST is reported only for a lease that expired and completed {@code lost()}; a missing reply alone does not mean
     * LOST.
     */
    static void assertConsistent(ReleaseOutcome outcome, Lease lease) throws InterruptedException {
        if (outcome == ReleaseOutcome.LOST) {
            CompletableFuture<LossReason> lost = lease.lost();
            Assertions.assertDoesNotThrow(
                    () -> lost.get(PROMPT.toMillis(), TimeUnit.MILLISECONDS), "LOST, but lost() did not complete");
            Assertions.assertNotEquals(
                    LossReason.Kind.REMOVED, lost.join().kind(), "LOST, though the grant was not removed");
        }
    }

    /** Returns the number of requests that the store has counted, or aborts the test if there is none. */
    long requests(String rule) {
        return backend.requests().orElseThrow(() -> notVerified(rule, "BackendUnderTest.requests returns no number"));
    }

    /** Returns the backend's URL, or aborts the test if there is none. */
    String url(String rule) {
        return backend.url().orElseThrow(() -> notVerified(rule, "BackendUnderTest.url returns no URL"));
    }

    /** Opens a new client by URL, as another process would. */
    LockClient clientByUrl(String rule, ClientOptions options, Capability... required) {
        String url = url(rule);
        LockClient client = recorder.open(() -> Locks.connect(url, options, required));
        clients.add(client);
        return client;
    }

    /** Asserts that within {@link #PROMPT} no holder and no waiter is shown any more, and that the lock can be acquired. */
    void assertFree(LockClient other, String name) throws Exception {
        if (other.admin().isPresent()) {
            LockAdmin admin = other.admin().orElseThrow();
            eventually("no waiter and no holder of \"" + name + "\" remains", PROMPT, () -> {
                LockStatus status = status(admin, name);
                return status.holders().isEmpty() && status.waiters().isEmpty();
            });
        }
        Optional<Lease> lease = other.named(name).tryAcquire(PROMPT);
        Assertions.assertTrue(lease.isPresent(), () -> "\"" + name + "\" is not free");
        lease.orElseThrow().close();
    }

    /**
     * Asserts that a lock becomes free whose grant nobody released. A store that compares no times has somebody else time the
     * lease, and shows the grant until the lock is taken over.
     */
    void assertFreeAfterExpiry(LockClient other, String name) throws Exception {
        Optional<Lease> lease = other.named(name).tryAcquire(backend.takeoverWithin());
        Assertions.assertTrue(lease.isPresent(), () -> "\"" + name + "\" is not free after an expiry");
        lease.orElseThrow().close();
        assertFree(other, name);
    }

    /** S10: asserts that within {@link #PROMPT} no waiter of a held lock is shown any more, if the backend shows waiters. */
    void assertNoWaiters(LockClient client, String name) throws Exception {
        if (client.admin().isPresent()) {
            LockAdmin admin = client.admin().orElseThrow();
            eventually(
                    "no waiter of \"" + name + "\" remains",
                    PROMPT,
                    () -> status(admin, name).waiters().isEmpty());
        }
    }

    /** Waits until the store shows that many waiters, or, if it keeps no queue, long enough for their requests to be sent. */
    static void awaitWaiters(LockClient client, String name, int count) throws Exception {
        if (client.admin().isPresent() && client.capabilities().contains(Capability.FAIR)) {
            LockAdmin admin = client.admin().orElseThrow();
            eventually(
                    count + " waiters are shown",
                    LONG,
                    () -> status(admin, name).waiters().size() >= count);
        } else {
            letPass("the waiters had time to send their requests", TIME_TO_QUEUE);
        }
    }

    /** Waits until the store shows that many waiters, or, without a LockAdmin, until it has told this client that it waits. */
    void awaitWaiter(LockClient waiting, String name, int count) throws Exception {
        if (waiting.admin().isPresent() || recorder.backend(waiting).isEmpty()) {
            awaitWaiters(waiting, name, count);
        } else {
            eventually("the store has replied that the lock is busy", LONG, () -> recorder.isWaiting(waiting, name));
        }
    }

    /**
     * Waits that long for a lock that another client holds, and asserts that it is not granted.
     *
     * @return whether the store reported the lock as busy; false if a loaded server did not reply in so short a time
     */
    static boolean assertWaitFails(ApiStyle style, DistributedLock lock, Duration maxWait) throws InterruptedException {
        try {
            Optional<Lease> lease = style.tryAcquire(lock, maxWait);
            Assertions.assertTrue(lease.isEmpty(), () -> "granted while another client holds the lock: " + lease);
            return true;
        } catch (BackendUnavailableException e) {
            return false; // no reply in time (S15)
        }
    }

    /** S10: asserts that a waiter for a held lock returns within 50 ms of an interrupt. */
    void assertInterruptReturnsAtOnce(DistributedLock lock) throws Exception {
        DurationAssertions.overshoot("from interrupt to InterruptedException", PROMPT, Duration.ofMillis(50), () -> {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<Long> waiting = start(() -> {
                thread.complete(Thread.currentThread());
                Assertions.assertThrows(InterruptedException.class, lock::acquire);
                return System.nanoTime();
            });
            Thread waiter = ApiStyle.result(thread);
            eventually("the waiter waits", LONG, () -> isWaiting(waiter));
            long start = System.nanoTime();
            waiter.interrupt();
            return Duration.ofNanos(ApiStyle.result(waiting) - start);
        });
    }

    /** Returns whether the thread is blocked in a wait, with or without a time limit. */
    static boolean isWaiting(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    @Override
    public void close() {
        // A failed test may leave the interrupt flag set, which would make the cleanup of faults fail.
        boolean interrupted = Thread.interrupted();
        try (backend) {
            try (faultInjector) {
                threads.shutdown(); // pending waits fail when their client closes, or by the interrupt
            } finally {
                clients.forEach(LockClient::close); // close() never throws (S16)
                threads.shutdownNow();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
