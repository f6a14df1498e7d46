// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Provides a client's current ZooKeeper session, and opens a new session on demand after the current one has ended. */
public final class ZooKeeperSessionManager {
    private final BackendContext context;
    private final String endpoints;
    private final CurrentSession<ZooKeeperSession> sessions;

    /** The last negotiated session timeout, which is used while the next session connects. */
    private volatile Duration sessionTimeout;

    /** Creates a manager that has no session yet. */
    public ZooKeeperSessionManager(ZooKeeperSettings settings, BackendContext context) {
        this.context = context;
        this.endpoints = settings.toString();
        this.sessions = new CurrentSession<>(() -> ZooKeeperSession.start(settings, context));
        this.sessionTimeout = settings.sessionTimeout();
    }

    /** Returns the session for new requests, without waiting for its connection. */
    public ZooKeeperSession current() {
        return sessions.get();
    }

    /** Returns the URL of the servers, without credentials. */
    public String endpoints() {
        return endpoints;
    }

    /** Returns the negotiated session timeout, or the requested one before the first session. */
    public Duration sessionTimeout() {
        sessions.last()
                .flatMap(ZooKeeperSession::validity)
                .ifPresent(validity -> sessionTimeout = validity.sessionTimeout());
        return sessionTimeout;
    }

    /**
     * Limits the time of a request to one request timeout.
     *
     * @param what the name of the request in the exception
     */
    public <T> CompletionStage<T> withTimeout(String what, CompletionStage<T> request) {
        return context.withRequestTimeout(what + " at " + endpoints, request);
    }

    /** Ends the session without waiting for the server, because connecting to it has failed. */
    public void abort() {
        sessions.close();
    }

    /** Ends the session, and waits until the server has ended it or the close deadline has passed. */
    public void close() {
        sessions.close()
                .ifPresent(last -> BoundedCloseWait.await(
                        last.closed(),
                        context.requestTimeout(),
                        "endpoints=" + endpoints + " bound=" + sessionTimeout()));
    }
}
