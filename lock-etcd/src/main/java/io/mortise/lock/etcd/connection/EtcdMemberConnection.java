// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to one etcd member through a jetcd client, with the time of the last response. An application-supplied
 * client is wrapped in the same way, and may connect to several members.
 *
 * <p>It is created and first used on a thread of the core. jetcd binds its callbacks to the Vert.x context of the thread
 * that uses it first, and looks up the servers' names there. With credentials it gets its first token before it is
 * available to other threads: jetcd fetches the token on the thread of the first request that needs one, and Vert.x
 * delivers it on that thread's context, which may be blocked waiting for Mortise.
 */
final class EtcdMemberConnection implements WatchMultiplexer.MemberListener {
    private static final Logger log = LoggerFactory.getLogger(EtcdMemberConnection.class);

    private final EtcdSettings settings;
    private final BackendContext context;
    private final String endpoints;
    private final Consumer<EtcdMemberConnection> whenSilent;
    private final Client client;

    /** Kept, since a closed jetcd client creates another one on demand, which nobody closes. */
    private final Watch watchClient;

    private volatile MonotonicInstant lastResponse;
    private volatile MonotonicInstant lastServed;

    /**
     * Creates the client, and looks up the names of the servers.
     *
     * @param endpoints the endpoints to connect to
     * @param whenSilent called if the member does not respond on its watch stream
     */
    EtcdMemberConnection(
            EtcdSettings settings,
            List<String> endpoints,
            RequestTryTimeout tries,
            BackendContext context,
            Consumer<EtcdMemberConnection> whenSilent) {
        this.settings = settings;
        this.context = context;
        this.endpoints = endpoints.size() == 1 ? endpoints.get(0) : settings.endpoints();
        this.whenSilent = whenSilent;
        this.lastResponse = context.clock().now();
        this.lastServed = lastResponse;
        this.client =
                settings.client().orElseGet(() -> EtcdClientFactory.build(settings, endpoints, tries, context, this));
        try {
            this.watchClient = client.getWatchClient();
            prepare();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void prepare() {
        client.getLeaseClient();
        client.getMaintenanceClient();
        client.getKVClient();
        if (settings.client().isEmpty()) { // the names are known when this returns
            CompletableFuture<?> first = read();
            if (settings.credentials().isPresent()) {
                awaitToken(first);
            }
        }
    }

    /** Sends a small read, whose reply shows no more than that the member serves reads. */
    CompletableFuture<GetResponse> read() {
        try {
            return client.getKVClient()
                    .get(ByteSequence.from(settings.namespace() + "%", StandardCharsets.UTF_8), GetOption.DEFAULT);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Repeats the request while a try is too short for an election. Other failures are ignored: the first request of a
     * session reports them better.
     */
    private void awaitToken(CompletableFuture<?> first) {
        long until = System.nanoTime() + context.requestTimeout().toNanos();
        CompletableFuture<?> pending = first;
        while (true) {
            try {
                pending.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                return;
            } catch (ExecutionException | TimeoutException e) {
                log.debug("event=first-request-failed endpoints={}", endpoints, e);
                if (System.nanoTime() - until >= 0 || !EtcdErrors.isTimeout(e)) {
                    return;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            pending = read();
        }
    }

    Client client() {
        return client;
    }

    Watch watchClient() {
        return watchClient;
    }

    /** Returns the endpoints to which the client is connected. */
    String endpoints() {
        return endpoints;
    }

    /** Returns whether any response has arrived since that instant. */
    boolean hasRespondedSince(MonotonicInstant instant) {
        return !lastResponse.isBefore(instant);
    }

    @Override
    public void onResponse() {
        lastResponse = context.clock().now();
    }

    /** Records that a request was served, or was refused because of its content. */
    void onServed() {
        lastServed = context.clock().now();
        onResponse();
    }

    /** Returns when a request was served last; if none was, when this connection was created. */
    MonotonicInstant lastServed() {
        return lastServed;
    }

    @Override
    public void onSilent() {
        whenSilent.accept(this);
    }

    /** Closes the client without waiting; leaves an application-supplied client open. */
    void close() {
        if (settings.client().isEmpty()) {
            client.close();
        }
    }
}
