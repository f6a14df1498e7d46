// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The backend of one simulated client, which reaches the simulated store over the simulated network. */
final class SimBackend implements LockBackend {
    final SimProcess process;
    private final SimWorld world;
    private final BackendContext context;
    private final Map<String, SimContender> contenders = new LinkedHashMap<>();
    private @Nullable Session session;
    private @Nullable CompletableFuture<Session> opening;
    boolean closed;

    SimBackend(SimProcess process, BackendContext context) {
        this.process = process;
        this.world = process.world;
        this.context = context;
        if (world.sessions) {
            adopt(world.store.openSession(world.lease), world.clock.now());
        }
    }

    private Session adopt(long id, MonotonicInstant sent) {
        Session opened = new Session(id, sent);
        session = opened;
        context.register(opened);
        return opened;
    }

    @Override
    public String endpoints() {
        return "sim:1";
    }

    @Override
    public Set<Capability> capabilities() {
        return world.sessions
                ? Set.of(Capability.FENCING, Capability.CRASH_RELEASE)
                : Set.of(Capability.FENCING, Capability.CRASH_RELEASE, Capability.PER_LOCK_LEASE);
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return world.sessions ? world.lease : requested.orElse(world.lease);
    }

    @Override
    public boolean queuesWaiters() {
        return world.queuing;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        SimContender contender = new SimContender(request, listener);
        contenders.put(request.attemptId(), contender);
        return contender;
    }

    /**
     * Receives a hint from the store.
     *
     * @param attempt the contender to wake; null for all contenders of the lock
     */
    void wake(String name, @Nullable String attempt) {
        for (SimContender contender : List.copyOf(contenders.values())) {
            if (contender.request.name().value().equals(name)
                    && (attempt == null || contender.request.attemptId().equals(attempt))) {
                contender.listener.wake();
            }
        }
    }

    /** Receives the message that an operator removed a grant. */
    void deleted(String attempt) {
        SimContender contender = contenders.get(attempt);
        if (contender != null) {
            contender.listener.lost(new LossReason(LossReason.Kind.REMOVED, "an operator removed it"));
        }
    }

    @Override
    public void renew(List<GrantValidity> due) {
        MonotonicInstant sent = context.clock().now();
        for (GrantValidity validity : due) {
            if (validity instanceof Session mine) {
                request(() -> world.store.renewSession(mine.id, world.lease))
                        .whenComplete((alive, failure) -> report(mine, alive, failure, sent, world.lease));
            } else if (validity instanceof Grant mine) {
                Duration lease = mine.request.leaseDuration();
                String name = mine.request.name().value();
                request(() -> world.store.renew(name, mine.request.attemptId(), this, lease))
                        .whenComplete((alive, failure) -> report(mine, alive, failure, sent, lease));
            }
        }
    }

    private void report(
            GrantValidity mine,
            @Nullable Boolean alive,
            @Nullable Throwable failure,
            MonotonicInstant sent,
            Duration lease) {
        if (failure != null || alive == null) {
            mine.renewalUnknown(failure == null ? new IllegalStateException() : failure);
        } else if (alive) {
            mine.extend(deadline(sent, lease));
            if (mine instanceof Session) {
                for (String attempt : List.copyOf(contenders.keySet())) {
                    if (world.store.deleted.contains(attempt)) {
                        deleted(attempt);
                    }
                }
            }
        } else {
            mine.lost(new LossReason(
                    mine instanceof Session ? LossReason.Kind.SESSION_ENDED : LossReason.Kind.REMOVED, "removed"));
        }
    }

    private MonotonicInstant deadline(MonotonicInstant sent, Duration lease) {
        return world.fault == SimFault.DEADLINE_FROM_REPLY
                ? context.clock().now().plus(lease)
                : LockClock.deadline(sent, lease);
    }

    private <T> CompletionStage<T> request(Supplier<T> execution) {
        CompletableFuture<T> reply = world.send(process, execution);
        return world.fault == SimFault.NO_REQUEST_TIMEOUT
                ? reply
                : context.withRequestTimeout("simulated request", reply);
    }

    @Override
    public void close() {
        closed = true;
        Session last = session;
        if (last != null) {
            world.send(process, () -> {
                world.store.endSession(last.id);
                return true;
            });
        }
    }

    private final class Session extends GrantValidity {
        private final long id;

        Session(long id, MonotonicInstant sent) {
            super(context.clock(), world.lease.dividedBy(3), deadline(sent, world.lease));
            this.id = id;
        }

        @Override
        protected void onLost(LossReason reason) {
            request(() -> {
                world.store.endSession(id);
                return true;
            });
            for (SimContender contender : List.copyOf(contenders.values())) {
                if (contender.mine == this) {
                    contender.listener.wake();
                }
            }
        }
    }

    private final class Grant extends GrantValidity {
        private final LockRequest request;

        Grant(LockRequest request, MonotonicInstant sent) {
            super(context.clock(), request.leaseDuration().dividedBy(3), deadline(sent, request.leaseDuration()));
            this.request = request;
        }
    }

    private CompletionStage<Session> liveSession() {
        if (session != null && session.isValid()) {
            return CompletableFuture.completedFuture(session);
        }
        if (opening != null) {
            return opening;
        }
        CompletableFuture<Session> opened = new CompletableFuture<>();
        opening = opened;
        MonotonicInstant sent = context.clock().now();
        request(() -> world.store.openSession(world.lease)).whenComplete((id, failure) -> {
            opening = null;
            if (failure != null) {
                opened.completeExceptionally(failure);
            } else {
                opened.complete(adopt(id, sent));
            }
        });
        return opened;
    }

    private final class SimContender implements Contender {
        private final LockRequest request;
        private final ContenderListener listener;
        private @Nullable Session mine;
        private int calls;

        SimContender(LockRequest request, ContenderListener listener) {
            this.request = request;
            this.listener = listener;
        }

        private <T> CompletionStage<T> withoutOverlap(CompletionStage<T> stage) {
            if (++calls > 1) {
                world.violated("SPI: calls on one contender overlap");
            }
            CompletableFuture<T> result = new CompletableFuture<>();
            stage.whenComplete((value, failure) -> {
                calls--;
                if (failure != null) {
                    result.completeExceptionally(failure);
                } else {
                    result.complete(value);
                }
            });
            return result;
        }

        @Override
        public CompletionStage<AttemptResult> attempt() {
            contenders.put(request.attemptId(), this);
            if (!world.sessions) {
                return withoutOverlap(acquire(null));
            }
            if (mine == null) {
                return withoutOverlap(liveSession().thenCompose(live -> {
                    mine = live;
                    return acquire(live);
                }));
            }
            return withoutOverlap(
                    mine.isValid()
                            ? acquire(mine)
                            : CompletableFuture.completedFuture(new AttemptResult.Displaced("the session ended")));
        }

        private CompletionStage<AttemptResult> acquire(@Nullable Session on) {
            MonotonicInstant sent = context.clock().now();
            String name = request.name().value();
            return request(() -> world.store.acquire(
                            name,
                            request.attemptId(),
                            SimBackend.this,
                            on == null ? 0 : on.id,
                            request.leaseDuration(),
                            request.mayWait()))
                    .thenApply(reply -> {
                        if (reply.sessionEnded()) {
                            return new AttemptResult.Displaced("the session had ended");
                        }
                        if (reply.token() != 0) {
                            return new AttemptResult.Granted(reply.token(), on == null ? new Grant(request, sent) : on);
                        }
                        return new AttemptResult.Waiting(
                                world.fault == SimFault.NO_HINT_NO_FALLBACK ? Duration.ofHours(1) : SimWorld.FALLBACK);
                    });
        }

        @Override
        public CompletionStage<Boolean> end() {
            return withoutOverlap(request(() -> world.store.end(request.name().value(), request.attemptId()))
                    .thenApply(wasThere -> {
                        contenders.remove(request.attemptId());
                        return wasThere;
                    }));
        }

        @Override
        public void abandon() {
            if (mine != null) {
                mine.lost(new LossReason(LossReason.Kind.SESSION_ENDED, "an outcome on it stayed unknown"));
            }
        }
    }

    /** Returns the failure of a request that did not reach the store. */
    static BackendUnavailableException refusedConnection() {
        return new BackendUnavailableException("connection refused by sim:1");
    }
}
