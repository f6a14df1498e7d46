// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Keeps the client's current etcd session, and opens a new one on demand after a session has ended. */
public final class EtcdSessionManager {
    private final EtcdRequestSender requests;
    private final BackendContext context;
    private final CurrentSession<EtcdSession> sessions;

    /** The duration granted to the last session, valid until the next session is open. */
    private volatile Duration leaseDuration;

    /**
     * Creates a manager that has no session yet.
     *
     * @param requested the lease duration to request
     */
    public EtcdSessionManager(
            EtcdRequestSender requests, EtcdKeyLayout keys, BackendContext context, Duration requested) {
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
        leaseDuration = validity.leaseDuration();
    }

    /** Returns the sender of this client's requests. */
    public EtcdRequestSender requests() {
        return requests;
    }

    /** Returns the servers as a URL without credentials. */
    public String endpoints() {
        return requests.endpoints();
    }

    /**
     * Adds a deadline of one request timeout to a stage.
     *
     * @param what describes the stage in the exception
     */
    public <T> CompletionStage<T> withTimeout(String what, CompletionStage<T> request) {
        return context.withRequestTimeout(what + " at " + endpoints(), request);
    }

    /**
     * Repeats a cleanup on a session until the store replies. After a whole lease duration without success the session is given up
     * (S8), and the cleanup goes on for one request timeout, in which the session may end.
     *
     * @param abandon ends the session
     */
    public void cleanUp(String what, Supplier<? extends CompletionStage<?>> cleanup, Runnable abandon) {
        MonotonicInstant until = context.clock().now().plus(leaseDuration);
        Supplier<CompletionStage<?>> attempt = () -> {
            CompletionStage<?> tried = cleanup.get();
            return tried.whenComplete((done, failure) -> {
                if (failure != null && context.clock().hasPassed(until)) {
                    abandon.run();
                }
            });
        };
        context.cleanUp(what, attempt, until.plus(context.requestTimeout()));
    }

    /** Ends the session without waiting, since a server that has not responded before would not respond to this either. */
    public void abort() {
        sessions.close();
    }

    /** Ends the session, and waits until the server has deleted it or the close deadline has passed. */
    public void close() {
        sessions.close()
                .ifPresent(last -> BoundedCloseWait.await(
                        last.closed(),
                        context.requestTimeout(),
                        "endpoints=" + endpoints() + " bound=" + leaseDuration));
    }
}
