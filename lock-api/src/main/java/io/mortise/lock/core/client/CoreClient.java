// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.acquire.AcquireServices;
import io.mortise.lock.core.acquire.LocalQueues;
import io.mortise.lock.core.acquire.OpenAcquires;
import io.mortise.lock.core.lease.CleanupRetrier;
import io.mortise.lock.core.lease.ContenderRemovals;
import io.mortise.lock.core.lease.HeldLeases;
import io.mortise.lock.core.lease.LeaseKeeper;
import io.mortise.lock.core.lease.LeaseServices;
import io.mortise.lock.core.lease.RenewalLog;
import io.mortise.lock.core.listener.ListenerNotifier;
import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.core.runtime.ClientScopedClock;
import io.mortise.lock.core.runtime.CoreThreads;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.RandomIds;
import io.mortise.lock.core.runtime.SystemClock;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.LinkageErrorCheck;
import io.mortise.lock.spi.testing.BackendInterception;
import io.mortise.lock.spi.testing.ManualClock;
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
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The default {@link LockClient}, which owns its backend and the services of the core, and closes them in order. */
public final class CoreClient implements LockClient {
    private static final Logger log = LoggerFactory.getLogger(CoreClient.class);

    private final ClientOptions options;
    private final LockClock clock;
    private final RandomGenerator random;
    private final LastResponse lastResponse;
    private final ThrottledLog warnings;
    final LeaseKeeper keeper;
    final CleanupRetrier cleanups;
    private final CallbackExecutor callbacks;
    final HeldLeases holders;
    final LocalQueues queues = new LocalQueues();
    final OpenAcquires acquires = new OpenAcquires(this::checkDrained);
    private final ThreadPoolExecutor blocking = CoreThreads.blocking();
    private final ThreadPoolExecutor blockingCalls = CoreThreads.blockingCalls();
    private final CoreBackendContext context;
    private final AtomicBoolean finished = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Runnable stopClock;
    private volatile boolean closeNotified;
    private volatile @Nullable AcquireServices acquiring; // null until the backend is open

    private CoreClient(ClientOptions options, LockClock clock, RandomGenerator random, Runnable stopClock) {
        this.options = options;
        this.clock = clock;
        this.random = random;
        this.stopClock = stopClock;
        this.lastResponse = new LastResponse(clock);
        this.warnings = new ThrottledLog(clock);
        this.holders = new HeldLeases(warnings, this::checkDrained);
        RenewalLog renewalLog = new RenewalLog(clock, warnings);
        this.keeper = new LeaseKeeper(clock, lastResponse, renewalLog, options.requestTimeout(), random);
        this.cleanups = new CleanupRetrier(clock, random, warnings, this::checkDrained);
        this.callbacks = new CallbackExecutor(options.callbackExecutor(), isManual(clock));
        this.context =
                new CoreBackendContext(RandomIds.client(), options, clock, keeper, cleanups, blocking, blockingCalls);
    }

    private AcquireServices collaborators(LockBackend backend) {
        ContenderRemovals removals = new ContenderRemovals(clock, lastResponse, cleanups, this::wakeLocalQueue);
        return new AcquireServices(
                backend,
                options,
                random,
                lastResponse,
                queues,
                acquires,
                new ListenerNotifier(backend.kind(), options.listeners(), clock, warnings),
                new LeaseServices(
                        clock,
                        options.requestTimeout(),
                        backend,
                        Set.copyOf(backend.capabilities()),
                        keeper,
                        holders,
                        removals,
                        callbacks,
                        warnings));
    }

    private void wakeLocalQueue(LockName name) {
        if (!acquires.isClosing()) {
            queues.wakeFirst(name);
        }
    }

    /** Returns whether a test controls the clock. Then timers run on a thread of the test, which may run user code too. */
    private static boolean isManual(LockClock clock) {
        return clock instanceof ManualClock || (clock instanceof ClientScopedClock scoped && scoped.isManual());
    }

    /** Opens a client with a new clock, which ends with the client. */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options) {
        SystemClock clock = new SystemClock();
        return open(open, options, clock, new Random(), clock::stop);
    }

    /** Opens a client with the given clock, which the caller may share and which outlives the client. */
    public static LockClient open(Function<BackendContext, LockBackend> open, ClientOptions options, LockClock clock) {
        ClientScopedClock scoped = new ClientScopedClock(clock);
        return open(open, options, scoped, new Random(), scoped::stop);
    }

    static CoreClient open(
            Function<BackendContext, LockBackend> open,
            ClientOptions options,
            LockClock clock,
            RandomGenerator random,
            Runnable stopClock) {
        CoreClient client = new CoreClient(options, clock, random, stopClock);
        try {
            client.start(BackendInterception.apply(open.apply(client.context)));
            return client;
        } catch (LinkageError e) {
            client.stopThreads();
            throw LinkageErrorCheck.of(e, "opening the client");
        } catch (Throwable e) {
            client.stopThreads();
            throw e;
        }
    }

    private void start(LockBackend opened) {
        try {
            acquiring = collaborators(opened);
        } catch (Throwable e) { // it asks the backend for its capabilities
            opened.close();
            throw e;
        }
        lastResponse.received();
        keeper.start(opened);
    }

    private AcquireServices acquiring() {
        return Objects.requireNonNull(acquiring);
    }

    private LockBackend backend() {
        return acquiring().backend();
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
                            + backend().leaseDuration(Optional.empty())
                            + "; set it for the whole client, in its URL or options");
        }
        backend().leaseDuration(lockOptions.leaseDuration()); // rejects an invalid duration here, not in each acquire
        return new CoreLock(acquiring(), this::admin, new LockName(name), lockOptions);
    }

    @Override
    public Set<Capability> capabilities() {
        return acquiring().leases().capabilities();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return backend().admin().map(admin -> new CoreAdmin(admin, backend().endpoints(), callbacks));
    }

    private void checkDrained() {
        if (closeNotified && acquires.size() + holders.size() == 0 && cleanups.isEmpty()) {
            closed.complete(null);
        }
    }

    @Override
    public void close() {
        CompletableFuture<Void> withdrawn = beginClose();
        // The client's clock limits the wait; this second limit holds if that is a manual clock which no test advances.
        long end = System.nanoTime() + options.requestTimeout().plusSeconds(1).toNanos();
        boolean interrupted = false;
        while (!withdrawn.isDone() && end - System.nanoTime() > 0) {
            try {
                withdrawn.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) { // perhaps by a callback of the losses that this close announces
                interrupted = true;
            } catch (ExecutionException | TimeoutException e) {
                log.debug("event=close-bound", e);
            }
        }
        interrupted |= Thread.interrupted(); // even if nothing was to be withdrawn: the backend closes in its own time
        finishClose();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Notifies waiters and holders of the close, and starts to remove their contenders from the store.
     *
     * @return completes when all are removed, or after one request timeout
     */
    CompletableFuture<Void> beginClose() {
        if (acquires.close()) {
            acquires.endAll();
            LockClock.Timer bound = clock.schedule(options.requestTimeout(), () -> closed.complete(null));
            closed.thenRun(bound::cancel);
            holders.close(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
            closeNotified = true;
            checkDrained();
        }
        return closed;
    }

    /** Ends the client, even if requests or cleanups are still pending. Idempotent. */
    void finishClose() {
        if (!finished.compareAndSet(false, true)) {
            return;
        }
        int pending = acquires.size() + holders.size();
        List<String> unfinished = cleanups.stop();
        if (pending > 0 || !unfinished.isEmpty()) {
            log.warn(
                    "event=close-cleanup-incomplete requests={} withdrawals={} hint=\"the store drops them when their leases"
                            + " or delays end\"",
                    pending,
                    unfinished);
        }
        keeper.stop();
        warnings.flush();
        try {
            backend().close();
        } catch (Throwable e) {
            log.warn("event=backend-close-failed", e);
        } finally {
            stopThreads();
        }
    }

    @Override
    public String toString() {
        AcquireServices open = acquiring;
        return "LockClient[" + (open == null ? "not connected" : open.backend().endpoints()) + ", client "
                + context.clientId() + (acquires.isClosing() ? ", closed" : "") + "]";
    }

    private void stopThreads() {
        keeper.stop();
        blocking.shutdownNow(); // calls that still block have no caller any more
        blockingCalls.shutdownNow();
        stopClock.run();
        context.stop();
        callbacks.close();
        closed.complete(null);
    }
}
