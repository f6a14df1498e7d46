// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Beginning;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jetcd client in use: the application's, or one of our own. gRPC waits longer and longer between its tries to connect,
 * up to two minutes, and jetcd has no say in it: after an outage a new client of our own finds the server at once. Sessions
 * live on in the store and go on with it.
 *
 * <p>A client is made and first used on a thread of the core's: jetcd binds its answers to the Vert.x context of the thread that
 * uses it first, and looks up the servers' names there. With credentials it has its first token before anybody else may use
 * it: jetcd fetches that on the thread of whichever request finds none, and Vert.x hands it to that thread's context, which may be
 * waiting for us.
 *
 * <p>Later look-ups of names are gRPC's own: jetcd's resolver holds up the thread on which gRPC noticed that a connection broke
 * until the system has answered, and with it answers and deadlines that this thread keeps. Waits, leases and renewals end by
 * the core's timer.
 */
final class Connection {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** So long without any answer, since the first request that found no server. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Duration SHORTEST_UNRELATED = Duration.ofSeconds(10);

    private final EtcdOptions options;
    private final BackendContext context;
    private final boolean owned;

    /** A failure that long after the one before has nothing to do with it; renewals of a long lease are far apart. */
    private final Duration unrelated;

    private volatile @Nullable Client client; // null until it is open
    private volatile boolean failing;

    @GuardedBy("this")
    private long failingSince; // on the clock, if failing

    @GuardedBy("this")
    private long failedLast; // on the clock, if failing

    @GuardedBy("this")
    private boolean replacing;

    /** Logged when it begins and when it ends. */
    private volatile boolean outage;

    @GuardedBy("this")
    private long outageSince; // on the clock, if there is one

    @GuardedBy("this")
    private boolean closed;

    Connection(EtcdOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.owned = options.client().isEmpty();
        this.unrelated = options.leaseDuration().compareTo(SHORTEST_UNRELATED) > 0
                ? options.leaseDuration()
                : SHORTEST_UNRELATED;
    }

    /** Makes the client; no server need answer. Waits at most for the connect timeout, for names that must be looked up. */
    void open() {
        CompletableFuture<Void> opening = CompletableFuture.runAsync(() -> publish(ready()), context.blocking());
        Duration limit = context.connectTimeout();
        String missing = options.credentials().isPresent() ? "no answer from " : "no address found for ";
        Beginning.of(endpoints(), limit)
                .orSay(() -> missing + endpoints() + " in " + limit.toMillis() + " ms")
                .await(opening, failure -> EtcdFailure.of(failure, "connect", endpoints()));
    }

    private Client ready() {
        Client made = options.client().orElseGet(() -> OwnClient.build(options, context));
        try {
            made.getLeaseClient();
            made.getWatchClient();
            made.getMaintenanceClient();
            KV kv = made.getKVClient();
            if (owned) { // the names are known when this returns
                CompletableFuture<?> first = kv.get(EtcdKeys.bytes(options.namespace() + "%"), GetOption.DEFAULT);
                if (options.credentials().isPresent()) {
                    awaitToken(first);
                }
            }
            return made;
        } catch (RuntimeException | Error e) {
            if (owned) {
                made.close();
            }
            throw e;
        }
    }

    /** Whatever is wrong, the first request of a session says it better. */
    private void awaitToken(CompletableFuture<?> first) {
        try {
            first.get(context.requestTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            log.debug("event=first-request-failed endpoints={}", endpoints(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void publish(Client made) {
        @Nullable Client old;
        synchronized (this) {
            old = closed ? made : client;
            if (!closed) {
                client = made;
                failing = false;
            }
            replacing = false;
        }
        if (owned && old != null) {
            old.close();
        }
    }

    Client client() {
        Client open = client;
        if (open == null) {
            throw new BackendUnavailableException("no connection to " + endpoints() + " was made yet");
        }
        return open;
    }

    /** Whether its requests end by themselves after a request timeout. */
    boolean hasDeadlines() {
        return owned;
    }

    String endpoints() {
        return options.endpoints();
    }

    void answered() {
        if (failing) {
            failing = false;
        }
        if (!outage) {
            return;
        }
        long lasted;
        synchronized (this) {
            if (!outage) {
                return;
            }
            outage = false;
            lasted = context.clock().nanoTime() - outageSince;
        }
        log.info("event=reachable-again endpoints={} after_ms={}", endpoints(), lasted / 1_000_000);
    }

    /**
     * Of the first contact: why another try cannot help, if so. Blocks while it looks.
     *
     * @param failure of the last try
     */
    LockException explained(BackendUnavailableException failure) {
        return EtcdFailure.isClosedByServer(failure)
                ? TlsMismatch.find(options.endpointList(), options.tls().isPresent())
                        .<LockException>map(
                                why -> new BackendRefusedException("connect to " + endpoints() + ": " + why, failure))
                        .orElse(failure)
                : failure;
    }

    /** A request found no server. */
    void broken(Client asked, Throwable cause) {
        if (!owned) {
            return;
        }
        boolean begins;
        boolean replaces;
        synchronized (this) {
            long now = context.clock().nanoTime();
            if (closed || replacing || asked != client) {
                return;
            }
            if (!failing || now - failedLast > unrelated.toNanos()) {
                failing = true;
                failingSince = now;
            }
            failedLast = now;
            begins = !outage;
            if (begins) {
                outage = true;
                outageSince = now;
            }
            replaces = now - failingSince >= PATIENCE.toNanos();
            replacing = replaces;
        }
        if (begins) {
            log.warn("event=unreachable endpoints={} cause=\"{}\"", endpoints(), EtcdFailure.text(cause));
        }
        if (replaces) {
            startReplacing();
        }
    }

    private void startReplacing() {
        log.debug("event=reconnect endpoints={}", endpoints());
        try {
            context.blocking().execute(this::replace); // not here: it may be its own thread that tells us
        } catch (RejectedExecutionException e) {
            log.debug("event=reconnect-too-late endpoints={}", endpoints(), e); // the core has ended
        }
    }

    private void replace() {
        try {
            publish(ready());
        } catch (RuntimeException | Error e) { // no threads left, say: that passes
            log.warn("event=reconnect-failed endpoints={}", endpoints(), e);
            synchronized (this) {
                replacing = false; // the next request that finds no server tries again
            }
        }
    }

    /** Does not wait. Idempotent; leaves a borrowed client open. */
    void close() {
        Client last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = client;
        }
        if (owned && last != null) {
            last.close();
        }
    }
}
