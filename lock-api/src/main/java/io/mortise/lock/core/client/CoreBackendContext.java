// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.core.acquire.OpenAcquires;
import io.mortise.lock.core.lease.CleanupRetrier;
import io.mortise.lock.core.lease.LeaseKeeper;
import io.mortise.lock.core.lease.PendingCleanup;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The default {@link BackendContext}, which gives a backend access to the clock and the services of its client. */
public final class CoreBackendContext implements BackendContext {
    private final String clientId;
    private final ClientOptions options;
    private final LockClock clock;
    private final LeaseKeeper keeper;
    private final CleanupRetrier cleanups;
    private final Executor blocking;
    private final ThreadPoolExecutor blockingCalls;
    private final Set<Runnable> pendingRequests = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    CoreBackendContext(
            String clientId,
            ClientOptions options,
            LockClock clock,
            LeaseKeeper keeper,
            CleanupRetrier cleanups,
            Executor blocking,
            ThreadPoolExecutor blockingCalls) {
        this.clientId = clientId;
        this.options = options;
        this.clock = clock;
        this.keeper = keeper;
        this.cleanups = cleanups;
        this.blocking = blocking;
        this.blockingCalls = blockingCalls;
    }

    @Override
    public String clientId() {
        return clientId;
    }

    @Override
    public Executor blocking() {
        return blocking;
    }

    @Override
    public <T> CompletionStage<T> callBlocking(String what, Callable<T> call) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        Runnable task = () -> {
            try {
                reply.complete(call.call());
            } catch (Throwable e) { // whatever it is, the caller must receive it
                reply.completeExceptionally(e);
            }
        };
        try {
            blockingCalls.execute(task);
        } catch (RejectedExecutionException e) {
            reply.completeExceptionally(OpenAcquires.closed());
        }
        CompletionStage<T> bounded = withRequestTimeout(what, reply);
        bounded.whenComplete((value, failure) -> {
            if (!reply.isDone()) {
                blockingCalls.remove(task);
            }
        });
        return bounded;
    }

    @Override
    public LockClock clock() {
        return clock;
    }

    @Override
    public Duration connectTimeout() {
        return options.connectTimeout();
    }

    @Override
    public Duration requestTimeout() {
        return options.requestTimeout();
    }

    @Override
    public void register(GrantValidity session) {
        keeper.keep(session);
    }

    @Override
    public <K extends GrantValidity> void renewNow(Class<K> kind, Predicate<K> which) {
        keeper.renewNow(held -> kind.isInstance(held) && which.test(kind.cast(held)));
    }

    @Override
    public void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup, MonotonicInstant until) {
        cleanups.begin(new PendingCleanup<Object>(what, cleanup, until, new PendingCleanup.Listener<>() {}));
    }

    @Override
    public <T> CompletionStage<T> withRequestTimeout(String what, CompletionStage<T> request) {
        CompletableFuture<T> bounded = new CompletableFuture<>();
        Duration limit = requestTimeout();
        LockClock.Timer timer = clock().schedule(
                        limit,
                        () -> bounded.completeExceptionally(
                                new BackendUnavailableException(what + ": no answer in " + limit.toMillis() + " ms")));
        Runnable end = () -> bounded.completeExceptionally(OpenAcquires.closed());
        pendingRequests.add(end);
        bounded.whenComplete((value, failure) -> {
            timer.cancel();
            pendingRequests.remove(end);
        });
        request.whenComplete((value, failure) -> {
            if (failure == null) {
                bounded.complete(value);
            } else {
                bounded.completeExceptionally(failure);
            }
        });
        if (stopped) {
            stop();
        }
        return bounded;
    }

    /** Fails all pending requests, because the timers of the client have ended and no request would time out any more. */
    void stop() {
        stopped = true;
        List.copyOf(pendingRequests).forEach(Runnable::run);
    }
}
