// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LinkageErrorCheck;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.ManualClock;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Implementation of a client: owns the backend and the parts of the core, and closes them in order. */
public final class CoreClient implements LockClient {
    /** Long enough for ever, short enough for arithmetic in nanoseconds. */
    static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private static final Logger log = LoggerFactory.getLogger(CoreClient.class);

    final ClientOptions options;
    final LockClock clock;
    final RandomGenerator random;
    final LastResponse lastResponse;
    final LeaseKeeper keeper;
    final PendingCleanups cleanups;
    final CallbackExecutor callbacks;
    final LocalQueues queues = new LocalQueues();
    final HeldLeases holders;
    final ThrottledLog warnings;

    private final Set<AcquireOperation> acquisitions = Collections.synchronizedSet(new LinkedHashSet<>());
    private final ThreadPoolExecutor blocking = CoreThreads.blocking();
    private final ClientContext context = new ClientContext(this, AttemptIds.client(), blocking);
    private final AtomicBoolean finished = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Runnable stopClock;
    private volatile boolean told;
    private volatile @Nullable LockBackend backend;

    private CoreClient(ClientOptions options, LockClock clock, RandomGenerator random, Runnable stopClock) {
        this.options = options;
        this.clock = clock;
        this.random = random;
        this.stopClock = stopClock;
        this.lastResponse = new LastResponse(clock);
        this.warnings = new ThrottledLog(clock);
        this.holders = new HeldLeases(warnings);
        RenewalLog renewalLog = new RenewalLog(clock, warnings);
        this.keeper = new LeaseKeeper(clock, lastResponse, renewalLog, options.requestTimeout());
        this.cleanups = new PendingCleanups(clock, random, warnings, this::checkDrained);
        this.callbacks = new CallbackExecutor(options.callbackExecutor(), isHandCranked(clock));
    }

    /** The thread that moves such a clock is a test's own: user code may run on it. */
    private static boolean isHandCranked(LockClock clock) {
        return clock instanceof ManualClock || (clock instanceof SharedClock borrowed && borrowed.isHandCranked());
    }

    /** A client on a clock of its own. */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options) {
        SystemClock clock = new SystemClock();
        return open(open, options, clock, new Random(), clock::stop);
    }

    /** A client on the given clock, which stays the caller's. */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options, LockClock clock) {
        SharedClock borrowed = new SharedClock(clock);
        return open(open, options, borrowed, new Random(), borrowed::stop);
    }

    static CoreClient open(
            Function<BackendContext, LockBackend> open,
            ClientOptions options,
            LockClock clock,
            RandomGenerator random,
            Runnable stopClock) {
        CoreClient client = new CoreClient(options, clock, random, stopClock);
        try {
            LockBackend opened = open.apply(client.context);
            client.backend = opened;
            client.lastResponse.received();
            client.keeper.start(opened);
            return client;
        } catch (LinkageError e) {
            client.stopThreads();
            throw LinkageErrorCheck.of(e, "opening the client");
        } catch (RuntimeException | Error e) {
            client.stopThreads();
            throw e;
        }
    }

    LockBackend backend() {
        return Objects.requireNonNull(backend);
    }

    @Override
    public DistributedLock named(String name) {
        return named(name, LockOptions.defaults());
    }

    @Override
    public DistributedLock named(String name, LockOptions lockOptions) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(lockOptions, "options");
        if (lockOptions.leaseDuration().isPresent() && !capabilities().contains(Capability.PER_LOCK_LEASE)) {
            throw new IllegalArgumentException(
                    "leaseDuration is " + lockOptions.leaseDuration().get()
                            + ", but this backend has one lease for all locks: its session of "
                            + backend().leaseDuration(Optional.empty()));
        }
        leaseDuration(lockOptions); // refused here rather than by each acquire
        return new CoreLock(this, new LockName(name), lockOptions);
    }

    @Override
    public Set<Capability> capabilities() {
        return backend().capabilities();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return backend().admin().map(admin -> new CoreAdmin(admin, callbacks));
    }

    Duration leaseDuration(LockOptions lockOptions) {
        return backend().leaseDuration(lockOptions.leaseDuration());
    }

    boolean queuesWaiters() {
        return backend().queuesWaiters();
    }

    AcquireOperation begin(
            LockName name, LockOptions lockOptions, @Nullable Duration maxWait, Consumer<AcquireOutcome> sink) {
        AcquireOperation acquisition = new AcquireOperation(this, name, lockOptions, maxWait, sink);
        acquisition.start();
        return acquisition;
    }

    /** False: the client closes. */
    boolean enter(AcquireOperation acquisition) {
        acquisitions.add(acquisition);
        return !closing.get();
    }

    /** It is over, and nothing of it is under way. */
    void leave(AcquireOperation acquisition) {
        acquisitions.remove(acquisition);
        checkDrained();
    }

    private void checkDrained() {
        if (told && acquisitions.isEmpty() && cleanups.isEmpty()) {
            closed.complete(null);
        }
    }

    boolean isClosing() {
        return closing.get();
    }

    ClientClosedException closed() {
        return new ClientClosedException("the client is closed");
    }

    /** Removes what a contender may have in the store; repeated until the store has answered (S8). */
    void withdraw(LockName name, Contender contender, Duration lease) {
        end(name, contender, lease, new AttemptCleanup.Listener<Boolean>() {});
    }

    void end(LockName name, Contender contender, Duration lease, AttemptCleanup.Listener<Boolean> listener) {
        long until = clock.nanoTime() + lease.toNanos();
        cleanups.begin(new AttemptCleanup<Boolean>(
                "withdrawal from lock \"" + name + "\"", contender::end, until, new AttemptCleanup.Listener<Boolean>() {
                    @Override
                    public void answered(Boolean wasThere, boolean firstTry) {
                        lastResponse.received();
                        listener.answered(wasThere, firstTry);
                        if ((wasThere || !firstTry) && !isClosing()) {
                            queues.wakeFirst(name);
                        }
                    }

                    @Override
                    public void givenUp(Throwable last) {
                        if (!cleanups.isStopped()) { // closing the backend gives up all at once
                            contender.abandon();
                        }
                        listener.givenUp(last);
                    }
                }));
    }

    @Override
    public void close() {
        CompletableFuture<Void> withdrawn = beginClose();
        // The bound is on the client's clock; the second one holds where nobody cranks that clock.
        boolean interrupted = false;
        try {
            withdrawn.get(options.requestTimeout().plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            log.debug("event=close-bound", e);
        }
        finishClose();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells waiters and holders, and begins to withdraw what they have; completes when that is done or its time is over. */
    CompletableFuture<Void> beginClose() {
        if (closing.compareAndSet(false, true)) {
            List.copyOf(acquisitions).forEach(acquisition -> quietly(acquisition::closing));
            holders.close(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
            LockClock.Timer bound = clock.schedule(options.requestTimeout(), () -> closed.complete(null));
            closed.thenRun(bound::cancel);
            told = true;
            checkDrained();
        }
        return closed;
    }

    /** One that fails must not keep the others from ending. */
    static void quietly(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            log.error("event=close-step-failed", e);
        }
    }

    /** The end, whatever is still open. Once. */
    void finishClose() {
        if (!finished.compareAndSet(false, true)) {
            return;
        }
        int underWay = acquisitions.size();
        List<String> unsettled = cleanups.stop();
        if (underWay > 0 || !unsettled.isEmpty()) {
            log.warn(
                    "event=close-cleanup-incomplete requests={} withdrawals={} bound=\"the store drops them within {} of the last renewal\"",
                    underWay,
                    unsettled,
                    backend().leaseDuration(Optional.empty()));
        }
        keeper.stop();
        warnings.flush();
        try {
            backend().close();
        } catch (RuntimeException | Error e) {
            log.warn("event=backend-close-failed", e);
        } finally {
            stopThreads();
        }
    }

    @Override
    public String toString() {
        LockBackend opened = backend;
        return "LockClient[" + (opened == null ? "not connected" : opened.endpoints()) + ", client "
                + context.clientId() + (closing.get() ? ", closed" : "") + "]";
    }

    private void stopThreads() {
        keeper.stop();
        blocking.shutdownNow(); // what still blocks there has nobody to answer
        stopClock.run();
        context.stop();
        callbacks.close();
        closed.complete(null);
    }
}
