// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.Client;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jetcd client in use: the application's, or one of our own. gRPC waits longer and longer between its tries to connect,
 * up to two minutes, and jetcd has no say in it: after an outage a new client of our own finds the server at once. Sessions
 * live on in the store and go on with it.
 */
final class Connection {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** So long without any answer, since the first request that found no server. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final EtcdOptions options;
    private final BackendContext context;
    private final boolean owned;

    private volatile Client client;
    private volatile boolean failing;

    @GuardedBy("this")
    private long failingSince; // on the clock, if failing

    @GuardedBy("this")
    private boolean closed;

    Connection(EtcdOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.owned = options.client().isEmpty();
        this.client = options.client().orElseGet(this::build);
    }

    private Client build() {
        return OwnClient.build(options, context.connectTimeout(), context.requestTimeout());
    }

    Client client() {
        return client;
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
    }

    /** A request found no server. */
    void broken(Client asked) {
        if (!owned) {
            return;
        }
        synchronized (this) {
            long now = context.clock().nanoTime();
            if (closed || asked != client) {
                return;
            }
            if (!failing) {
                failing = true;
                failingSince = now;
            }
            if (now - failingSince < PATIENCE.toNanos()) {
                return;
            }
            client = build();
            failing = false;
        }
        log.info("event=reconnect endpoints={}", endpoints());
        context.blocking().execute(asked::close); // not here: it may be its own thread that tells us
    }

    /** Does not wait. Idempotent; leaves a borrowed client open. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (owned) {
            client.close();
        }
    }
}
