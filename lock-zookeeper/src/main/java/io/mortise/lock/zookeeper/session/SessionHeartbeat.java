// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends the requests that prove that a session is alive, and makes a managed handle leave a silent server. */
final class SessionHeartbeat {
    private static final Logger log = LoggerFactory.getLogger(SessionHeartbeat.class);

    private static final Duration FIRST_SYNC_RETRY = Duration.ofMillis(500);
    private static final Duration REPORT_SLACK = Duration.ofMillis(5);

    private final ZooKeeperSession session;
    private final ZooKeeperSettings settings;
    private final BackendContext context;
    private final AtomicBoolean followUpScheduled = new AtomicBoolean();

    SessionHeartbeat(ZooKeeperSession session, ZooKeeperSettings settings, BackendContext context) {
        this.session = session;
        this.settings = settings;
        this.context = context;
    }

    /** Sends the first sync, from which the first deadline counts. Nobody has a node yet, see {@link #sendProof}. */
    void start() {
        if (session.hasEnded() || session.validity().isPresent()) {
            return;
        }
        MonotonicTime sent = context.clock().now();
        session.calls().sync(settings.basePath()).whenComplete((answered, failure) -> {
            if (failure == null) {
                ZooKeeperSessionValidity validity =
                        new ZooKeeperSessionValidity(session, context.clock(), session.negotiatedTimeout(), sent);
                if (session.opened(validity)) {
                    context.keep(validity);
                    scheduleFollowUp(validity);
                }
            } else {
                log.info("event=session-sync-failed cause=\"{}\"", failure.toString());
                context.clock().schedule(FIRST_SYNC_RETRY, this::start); // it may have failed without a disconnect
            }
        });
    }

    /**
     * Sends a write while any contender has a node, and a {@code sync} otherwise.
     *
     * <p>A leader that was cut off answers a {@code sync} but commits nothing. While nobody has a node, a {@code sync} is enough
     * and costs the servers no disk: no grant depends on it, since the next node is created by a later write, which proves more.
     */
    private CompletableFuture<Boolean> sendProof() {
        return session.hasContenders()
                ? session.calls().commit(settings.basePath())
                : session.calls().sync(settings.basePath());
    }

    /** Proves by one request that the session is alive, whatever the number of grants. */
    void renew(ZooKeeperSessionValidity validity) {
        if (session.hasEnded()) {
            return;
        }
        MonotonicTime sent = context.clock().now(); // before the kind of proof is chosen: a later node is created later
        CompletableFuture<Boolean> proof = sendProof();
        long connection = session.connection();
        if (session.isManaged()) { // the application's handle is left alone
            SilentServerDetector.start(
                    context.clock(),
                    validity.silenceLimit(),
                    session.calls()::answeredAt,
                    proof,
                    () -> context.blocking().execute(() -> leaveServer(proof, connection)));
        }
        proof.whenComplete((answered, failure) -> {
            if (failure == null) {
                validity.renewed(sent, context.clock().now());
                scheduleFollowUp(validity);
            } else if (ZooKeeperErrors.hasCode(failure, Code.SESSIONEXPIRED)) {
                session.end("the session expired");
            } else {
                validity.unknown(failure);
            }
        });
    }

    private void leaveServer(CompletableFuture<Boolean> proof, long connection) {
        if (!proof.isDone() && session.connection() == connection && !session.hasEnded()) {
            log.info("event=server-silent session=0x{} hint=\"connects to another\"", session.sessionId());
            ZooKeeperHandles.leaveServer(session.calls().handle(), settings);
            // wakes the client's send thread, which would notice only when it next has something to send
            session.calls().sync(settings.basePath());
        }
    }

    /** Schedules one extra renewal if the latest one proved little and none is scheduled yet. */
    private void scheduleFollowUp(ZooKeeperSessionValidity validity) {
        Optional<Duration> pause = validity.followUpAfter();
        if (pause.isPresent() && followUpScheduled.compareAndSet(false, true)) {
            context.clock().schedule(pause.get().plus(REPORT_SLACK), () -> {
                followUpScheduled.set(false);
                renew(validity);
            });
        }
    }
}
