// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Checks and renews a session: on schedule, or when something hints that it may have ended. */
final class SessionRenewal {
    private static final int PROOFS = 3;

    private final EtcdSession session;
    private final EtcdRequests calls;
    private final LockClock clock;
    private final SharedRead reads = new SharedRead(this::read);

    SessionRenewal(EtcdSession session, EtcdRequests calls, LockClock clock) {
        this.session = session;
        this.calls = calls;
        this.clock = clock;
    }

    /**
     * A keepalive, and after its answer one linearizable read. A leader that was frozen and has been replaced answers
     * keepalives by itself: only if the read finds the session's key, in the same term, was it still the leader then.
     */
    void renew(EtcdSessionValidity validity) {
        prove(validity, PROOFS);
    }

    private void prove(EtcdSessionValidity validity, int tries) {
        if (session.hasEnded()) {
            return;
        }
        MonotonicTime sent = clock.now();
        calls.keepAlive(session.lease())
                .thenCompose(kept ->
                        calls.proof(session.sessionKey()).thenAccept(read -> proved(validity, sent, kept, read, tries)))
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        return;
                    }
                    if (EtcdErrors.isLeaseGone(failure)) {
                        // A leader that was replaced may say so by itself: what the majority knows decides.
                        read().whenComplete((there, unknown) -> unknown(validity, unknown != null ? unknown : failure));
                    } else {
                        unknown(validity, failure);
                    }
                });
    }

    private void unknown(EtcdSessionValidity validity, Throwable failure) {
        validity.unknown(EtcdErrors.of(failure, "renewal", calls.endpoints()));
    }

    private void proved(
            EtcdSessionValidity validity,
            MonotonicTime sent,
            LeaseKeepAliveResponse kept,
            GetResponse read,
            int tries) {
        SessionCheckResult proof = SessionCheckResult.of(
                session.lease(),
                kept.getHeader().getRaftTerm(),
                read.getHeader().getRaftTerm(),
                read.getKvs());
        switch (proof) {
            case VALID -> {
                session.sawEpoch(read.getKvs().get(0).getVersion());
                validity.renewed(sent, Duration.ofSeconds(kept.getTTL()));
            }
            case GONE -> session.end(EtcdSession.KEY_GONE);
            case UNPROVED -> {
                if (tries > 1) {
                    prove(validity, tries - 1);
                } else {
                    validity.unknown(new BackendUnavailableException(
                            "renewal: the leader at " + calls.endpoints() + " changed meanwhile"));
                }
            }
        }
    }

    /** Whether it is alive after all that the watches have told until now; ends it if not. */
    CompletionStage<Boolean> checkAlive() {
        return reads.fromNow();
    }

    private CompletionStage<Boolean> read() {
        if (session.hasEnded()) {
            return CompletableFuture.completedFuture(false);
        }
        return calls.get("a read of the session", session.sessionKey(), GetOption.DEFAULT)
                .thenApply(read -> {
                    boolean there = read.getKvs().stream().anyMatch(key -> key.getLease() == session.lease());
                    if (!there) {
                        session.end(EtcdSession.KEY_GONE);
                    }
                    return there;
                });
    }
}
