// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Keeps one session per client, and opens the next one when it is needed after the last one has ended. */
public final class EtcdSessionManager {
    private final EtcdRequests requests;
    private final BackendContext context;
    private final CurrentSession<EtcdSession> sessions;

    /** As granted to the last session: what is known while the next one is opened. */
    private volatile Duration leaseDuration;

    /**
     * Creates a manager that has no session yet.
     *
     * @param requested the lease duration to ask for
     */
    public EtcdSessionManager(EtcdRequests requests, EtcdKeyLayout keys, BackendContext context, Duration requested) {
        this.requests = requests;
        this.context = context;
        this.sessions = new CurrentSession<>(() -> new EtcdSession(requests, keys, context, requested));
        this.leaseDuration = requested;
    }

    /** Returns the session for new requests, without waiting until it is open. */
    public EtcdSession current() {
        return sessions.get();
    }

    /** Returns the lease duration that was granted, or the requested one before the first session. */
    public Duration leaseDuration() {
        sessions.last().flatMap(EtcdSession::validity).ifPresent(this::opened);
        return leaseDuration;
    }

    /** Remembers what was granted to a session that has opened. */
    public void opened(EtcdSessionValidity validity) {
        leaseDuration = validity.lease();
    }

    /** Returns the requests of this client. */
    public EtcdRequests requests() {
        return requests;
    }

    /** Returns the servers as a URL without credentials. */
    public String endpoints() {
        return requests.endpoints();
    }

    /**
     * Adds a deadline of one request timeout to what is waited for.
     *
     * @param what names it in the exception
     */
    public <T> CompletionStage<T> withTimeout(String what, CompletionStage<T> request) {
        return context.timed(what + " at " + endpoints(), request);
    }

    /** Repeats a cleanup until the store has answered, for at most one lease duration. */
    public void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup) {
        context.cleanUp(what, cleanup, context.clock().now().plus(leaseDuration));
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
                        "endpoints=" + endpoints() + " bound=" + leaseDuration));
    }
}
