// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the requests that check whether a session is alive.
 *
 * <p>If the server stops responding, a handle that Mortise manages is reconnected to another server.
 */
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

    /**
     * Sends the first sync, from which the first deadline counts. No contender has a node yet, see {@link #sendLivenessCheck}.
     */
    void start() {
        if (session.hasEnded() || session.validity().isPresent()) {
            return;
        }
        MonotonicInstant sent = context.clock().now();
        long connection = session.connection();
        session.zooKeeper().sync(settings.basePath()).whenComplete((reply, failure) -> {
            if (failure == null) {
                ZooKeeperSessionValidity validity =
                        new ZooKeeperSessionValidity(session, context.clock(), session.negotiatedTimeout(), sent);
                if (session.markReady(validity)) {
                    context.register(validity);
                    scheduleFollowUp(validity);
                }
            } else if (!ZooKeeperErrors.isOutcomeUnknown(failure)) {
                session.refused(ZooKeeperErrors.toLockException(failure, "opening a session", session.endpoints()));
            } else {
                log.info("event=session-sync-failed cause=\"{}\"", failure.toString());
                context.clock().schedule(FIRST_SYNC_RETRY, () -> {
                    if (session.connection() == connection) { // else a reconnect sends the sync again, or has done so
                        start();
                    }
                });
            }
        });
    }

    /**
     * Sends a no-op write while any contender has a node, and a {@code sync} otherwise.
     *
     * <p>A leader that was cut off still replies to a {@code sync} but commits nothing. While no contender has a node, a {@code
     * sync} is enough and causes the servers no disk writes. No grant depends on it, since the next node is created by a later
     * write, which proves more.
     */
    private CompletableFuture<Boolean> sendLivenessCheck() {
        return session.hasContenders()
                ? session.zooKeeper().commitNoOp(settings.basePath())
                : session.zooKeeper().sync(settings.basePath());
    }

    /** Sends one liveness check, which renews the session and thus every grant on it. */
    void renew(ZooKeeperSessionValidity validity) {
        if (session.hasEnded()) {
            return;
        }
        // Taken before the kind of check is chosen, so that a node that the choice misses is created after this time.
        MonotonicInstant sent = context.clock().now();
        CompletableFuture<Boolean> check = sendLivenessCheck();
        long connection = session.connection();
        if (session.isManaged()) { // the connection of the application's handle must not be dropped
            SilentServerDetector.start(
                    context.clock(),
                    validity.silenceLimit(),
                    session.zooKeeper()::lastResponseAt,
                    check,
                    () -> context.blocking().execute(() -> switchServer(check, connection)));
        }
        check.whenComplete((reply, failure) -> {
            if (failure == null) {
                validity.renewed(sent, context.clock().now());
                scheduleFollowUp(validity);
            } else if (ZooKeeperErrors.hasCode(failure, Code.SESSIONEXPIRED)) {
                session.end("the session expired");
            } else {
                validity.renewalUnknown(failure);
            }
        });
    }

    private void switchServer(CompletableFuture<Boolean> check, long connection) {
        if (!check.isDone() && session.connection() == connection && !session.hasEnded()) {
            log.info("event=server-silent session=0x{} hint=\"connects to another\"", session.sessionId());
            ZooKeeperHandles.switchServer(session.zooKeeper().handle(), settings);
            // wakes the client's send thread, which would otherwise notice the change only with its next request
            session.zooKeeper().sync(settings.basePath());
        }
    }

    /** Schedules one extra renewal if the latest one did not prove enough and no extra renewal is scheduled yet. */
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
