// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Renews a session, and checks on request whether the session still exists. */
final class SessionRenewal {
    private static final int MAX_TRIES = 3;

    private final EtcdSession session;
    private final EtcdRequestSender requests;
    private final LockClock clock;
    private final CoalescedRead reads = new CoalescedRead(this::read);

    SessionRenewal(EtcdSession session, EtcdRequestSender requests, LockClock clock) {
        this.session = session;
        this.requests = requests;
        this.clock = clock;
    }

    /**
     * Sends a keepalive and, after its reply, one linearizable read. A leader that was frozen and has been replaced replies
     * to keepalives without its successor's knowledge. Only if the read finds the session's key, in the same term, was it
     * still the leader when it renewed.
     */
    void renew(EtcdSessionValidity validity) {
        checkAndRenew(validity, MAX_TRIES);
    }

    private void checkAndRenew(EtcdSessionValidity validity, int tries) {
        if (session.hasEnded()) {
            return;
        }
        MonotonicInstant sent = clock.now();
        long epoch = session.epoch();
        requests.keepAlive(session.leaseId())
                .thenCompose(keepAlive -> requests.readSession(session.sessionKey())
                        .thenAccept(read -> onCheckCompleted(validity, sent, epoch, keepAlive, read, tries)))
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        return;
                    }
                    if (EtcdErrors.isLeaseNotFound(failure)) {
                        // A replaced leader may reply so without a majority; a read, which needs the majority, decides.
                        read().whenComplete((exists, readFailure) ->
                                reportUnknown(validity, readFailure != null ? readFailure : failure));
                    } else {
                        reportUnknown(validity, failure);
                    }
                });
    }

    private void reportUnknown(EtcdSessionValidity validity, Throwable failure) {
        validity.renewalUnknown(EtcdErrors.of(failure, "renewal", requests.endpoints()));
    }

    private void onCheckCompleted(
            EtcdSessionValidity validity,
            MonotonicInstant sent,
            long epoch,
            LeaseKeepAliveResponse keepAlive,
            GetResponse read,
            int tries) {
        SessionCheckResult result = SessionCheckResult.of(
                session.leaseId(),
                keepAlive.getHeader().getRaftTerm(),
                read.getHeader().getRaftTerm(),
                read.getKvs());
        switch (result) {
            case VALID -> {
                session.observeEpoch(read.getKvs().get(0).getVersion(), epoch);
                validity.renewed(sent, Duration.ofSeconds(keepAlive.getTTL()));
            }
            case ENDED -> session.end(EtcdSession.KEY_DELETED);
            case UNPROVEN -> {
                if (tries > 1) {
                    checkAndRenew(validity, tries - 1);
                } else {
                    validity.renewalUnknown(new BackendUnavailableException(
                            "renewal: the leader at " + requests.endpoints() + " changed meanwhile"));
                }
            }
        }
    }

    /**
     * Returns whether the session still exists, checked after all watch events received so far. Ends the session if it does
     * not.
     */
    CompletionStage<Boolean> checkAlive() {
        return reads.read();
    }

    private CompletionStage<Boolean> read() {
        if (session.hasEnded()) {
            return CompletableFuture.completedFuture(false);
        }
        return requests.get("a read of the session", session.sessionKey(), GetOption.DEFAULT)
                .thenApply(read -> {
                    boolean exists = read.getKvs().stream().anyMatch(key -> key.getLease() == session.leaseId());
                    if (!exists) {
                        session.end(EtcdSession.KEY_DELETED);
                    }
                    return exists;
                });
    }
}
