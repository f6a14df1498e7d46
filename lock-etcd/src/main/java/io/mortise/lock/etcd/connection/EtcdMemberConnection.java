// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.options.GetOption;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
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
 * A jetcd client of one member, and when that member last answered; or the application's client.
 *
 * <p>It is made and first used on a thread of the core's: jetcd binds its answers to the Vert.x context of the thread that uses it
 * first, and looks up the servers' names there. With credentials it has its first token before anybody else may use it: jetcd
 * fetches that on the thread of whichever request finds none, and Vert.x hands it to that thread's context, which may be waiting
 * for us.
 */
final class EtcdMemberConnection implements WatchMultiplexer.MemberListener {
    private static final Logger log = LoggerFactory.getLogger(EtcdMemberConnection.class);

    private final EtcdSettings settings;
    private final BackendContext context;
    private final String endpoints;
    private final Consumer<EtcdMemberConnection> whenSilent;
    private final Client client;
    private volatile MonotonicTime heardAt;

    /**
     * Makes the client, and looks up names.
     *
     * @param endpoints to connect to
     * @param whenSilent told if the member does not answer its watch stream
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
        this.heardAt = context.clock().now();
        this.client =
                settings.client().orElseGet(() -> EtcdClientFactory.build(settings, endpoints, tries, context, this));
        try {
            prepare();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void prepare() {
        client.getLeaseClient();
        client.getWatchClient();
        client.getMaintenanceClient();
        KV kv = client.getKVClient();
        if (settings.client().isEmpty()) { // the names are known when this returns
            CompletableFuture<?> first = ask(kv);
            if (settings.credentials().isPresent()) {
                awaitToken(first, kv);
            }
        }
    }

    private CompletableFuture<?> ask(KV kv) {
        return kv.get(ByteSequence.from(settings.namespace() + "%", StandardCharsets.UTF_8), GetOption.DEFAULT);
    }

    /** Asks again while a try is too short for an election. Whatever else is wrong, the first request of a session says it better. */
    private void awaitToken(CompletableFuture<?> first, KV kv) {
        long until = System.nanoTime() + context.requestTimeout().toNanos();
        CompletableFuture<?> asked = first;
        while (true) {
            try {
                asked.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                return;
            } catch (ExecutionException | TimeoutException e) {
                log.debug("event=first-request-failed endpoints={}", endpoints, e);
                if (System.nanoTime() - until >= 0 || !EtcdErrors.isLate(e)) {
                    return;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            asked = ask(kv);
        }
    }

    Client client() {
        return client;
    }

    /** Where it is connected to. */
    String endpoints() {
        return endpoints;
    }

    /** Whether anything has arrived since then. */
    boolean wasHeardSince(MonotonicTime instant) {
        return !heardAt.isBefore(instant);
    }

    @Override
    public void heard() {
        heardAt = context.clock().now();
    }

    @Override
    public void silent() {
        whenSilent.accept(this);
    }

    /** Does not wait. Leaves the application's open. */
    void close() {
        if (settings.client().isEmpty()) {
            client.close();
        }
    }
}
