// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A {@link LockBackend} that forwards every call, and reports requests, grants and losses to a {@link TestRecorder}. */
final class RecordingBackend implements LockBackend {
    private final LockBackend delegate;
    private final ClientLinkState client;
    private final TestRecorder recorder;

    /** The grants that depend on each validity. A session without grants is renewed too, but its replies are not seen here. */
    private final Map<GrantValidity, Set<WatchedValidity>> watchers = new ConcurrentHashMap<>();

    /** The latest renewal of each validity with watchers that has no reply yet. */
    private final Map<GrantValidity, StoreRequestRecord> renewals = new ConcurrentHashMap<>();

    RecordingBackend(LockBackend delegate, ClientLinkState client, TestRecorder recorder) {
        this.delegate = delegate;
        this.client = client;
        this.recorder = recorder;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        RecordingContender contender = new RecordingContender(request);
        contender.start(delegate.enqueue(request, contender.listener(listener)));
        return contender;
    }

    @Override
    public void renew(List<GrantValidity> due) {
        StoreRequestRecord request = recorder.sent(client);
        for (GrantValidity validity : due) {
            StoreRequestRecord before = watchers.containsKey(validity) ? renewals.put(validity, request) : null;
            if (before != null) {
                recorder.renewalUnanswered(before);
            }
        }
        delegate.renew(due);
    }

    @Override
    public String endpoints() {
        return delegate.endpoints();
    }

    @Override
    public String kind() {
        return delegate.kind();
    }

    @Override
    public Set<Capability> capabilities() {
        return delegate.capabilities();
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return delegate.leaseDuration(requested);
    }

    @Override
    public void checkReleaseDelay(Duration delay) {
        delegate.checkReleaseDelay(delay);
    }

    @Override
    public boolean queuesWaiters() {
        return delegate.queuesWaiters();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return delegate.admin();
    }

    @Override
    public void close() {
        delegate.close();
    }

    /** A contender that forwards every call, and records it. */
    private final class RecordingContender implements Contender {
        private final String lock;
        private final String attempt;
        private volatile @Nullable Contender forwarded;
        private volatile boolean attempted;
        private volatile @Nullable GrantRecord grant;
        private volatile @Nullable WatchedValidity watched;

        RecordingContender(LockRequest request) {
            this.lock = request.name().value();
            this.attempt = request.attemptId();
        }

        void start(Contender contender) {
            forwarded = contender;
        }

        private Contender forwarded() {
            Contender contender = forwarded;
            if (contender == null) {
                throw new IllegalStateException("the contender is not created yet");
            }
            return contender;
        }

        @Override
        public CompletionStage<AttemptResult> attempt() {
            boolean first = !attempted;
            attempted = true;
            if (first) {
                recorder.requested(client, lock, attempt);
            }
            StoreRequestRecord request = recorder.sent(client);
            return forwarded().attempt().whenComplete((result, failure) -> {
                if (failure != null) {
                    recorder.unanswered(request, lock, attempt, cause(failure));
                } else if (result instanceof AttemptResult.Granted granted) {
                    granted(request, granted, first);
                } else if (result instanceof AttemptResult.Displaced displaced) {
                    recorder.displaced(client, lock, attempt, displaced.why());
                } else {
                    recorder.waiting(request, lock, attempt);
                }
            });
        }

        private void granted(StoreRequestRecord request, AttemptResult.Granted granted, boolean first) {
            if (grant != null) {
                return; // the reply to a retry
            }
            String detail = delegate.capabilities().contains(Capability.FENCING) ? "token " + granted.token() : "";
            GrantRecord created = recorder.granted(request, lock, attempt, detail, first);
            grant = created;
            WatchedValidity validity = new WatchedValidity(granted.validity(), created);
            watched = validity;
            validity.start();
            if (!granted.validity().attach(validity)) {
                granted.validity().reason().ifPresent(validity::lost);
            }
        }

        @Override
        public CompletionStage<Boolean> end() {
            return end(Contender::end);
        }

        @Override
        public CompletionStage<Boolean> endAfter(Duration delay) {
            return end(contender -> contender.endAfter(delay));
        }

        private CompletionStage<Boolean> end(Function<Contender, CompletionStage<Boolean>> call) {
            StoreRequestRecord request = recorder.sent(client);
            GrantRecord ending = grant;
            WatchedValidity validity = watched;
            if (validity != null) {
                validity.stop();
            }
            recorder.ending(client, lock, attempt, ending);
            return call.apply(forwarded()).whenComplete((wasThere, failure) -> {
                if (failure != null) {
                    recorder.unanswered(request, lock, attempt, cause(failure));
                } else {
                    recorder.ended(request, lock, attempt, ending, Boolean.TRUE.equals(wasThere));
                }
            });
        }

        @Override
        public void abandon() {
            forwarded().abandon();
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return forwarded().unwrap(type);
        }

        /** Returns the listener of the core, which also records the loss of this grant alone. */
        ContenderListener listener(ContenderListener core) {
            return new ContenderListener() {
                @Override
                public void wake() {
                    core.wake();
                }

                @Override
                public void lost(LossReason reason) {
                    GrantRecord lost = grant;
                    if (lost != null) {
                        recorder.lost(lost, reason);
                    }
                    core.lost(reason);
                }

                @Override
                public boolean isStillWaiting() {
                    return core.isStillWaiting();
                }
            };
        }
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Records the renewals and the loss of one grant. */
    private final class WatchedValidity implements GrantValidity.Listener {
        private final GrantValidity validity;
        private final GrantRecord grant;

        WatchedValidity(GrantValidity validity, GrantRecord grant) {
            this.validity = validity;
            this.grant = grant;
        }

        void start() {
            watchers.compute(validity, (same, others) -> {
                Set<WatchedValidity> all = others == null ? ConcurrentHashMap.newKeySet() : others;
                all.add(this);
                return all;
            });
        }

        void stop() {
            validity.detach(this);
            forget();
        }

        private void forget() {
            watchers.computeIfPresent(validity, (same, all) -> all.remove(this) && all.isEmpty() ? null : all);
            renewals.remove(validity);
        }

        @Override
        public void extended() {
            boolean own = delegate.capabilities().contains(Capability.PER_LOCK_LEASE);
            recorder.renewed(grant, renewals.remove(validity), own);
        }

        @Override
        public void lost(LossReason reason) {
            forget();
            recorder.lost(grant, reason);
        }
    }
}
