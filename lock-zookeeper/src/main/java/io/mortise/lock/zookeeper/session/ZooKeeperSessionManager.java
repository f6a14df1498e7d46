// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Keeps one session per client, and opens the next one when it is needed after the last one has ended. */
public final class ZooKeeperSessionManager {
    private final BackendContext context;
    private final String endpoints;
    private final CurrentSession<ZooKeeperSession> sessions;

    /** As last negotiated: what is known while the next session connects. */
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

    /** Returns the servers as a URL without credentials. */
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
     * Adds a deadline of one request timeout to a request.
     *
     * @param what names the request in the exception
     */
    public <T> CompletionStage<T> withTimeout(String what, CompletionStage<T> request) {
        return context.timed(what + " at " + endpoints, request);
    }

    /** Ends the session without waiting: a server that did not answer before would not answer this either. */
    public void abort() {
        sessions.end();
    }

    /** Ends the session, and waits until the server has dropped it or the close deadline has passed. */
    public void close() {
        sessions.end()
                .ifPresent(last -> BoundedCloseWait.await(
                        last.closed(),
                        context.requestTimeout(),
                        "endpoints=" + endpoints + " bound=" + sessionTimeout()));
    }
}
