// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Base class for tests with one client and three masters over links that can fail. No test may leave lock keys. */
abstract class ThreeLinkedMastersTest {
    static final Duration SOON = Duration.ofSeconds(20);
    static final Duration LEASE = Duration.ofSeconds(6);
    static final Duration NODE_TIMEOUT = Duration.ofSeconds(1); // longer than the usual stalls of a busy machine
    static final RedlockKeys KEYS = new RedlockKeys(RedlockOptions.DEFAULT_PREFIX);
    static final RedlockKeys.LockKeys X = KEYS.of(new LockName("x"));

    /** A lock request with the given values. */
    record Request(LockName name, String attemptId, String ownerRecord, Duration leaseDuration, boolean mayWait)
            implements LockRequest {}

    private static RedisTestMasters masters;
    private final List<TcpProxy> links = new ArrayList<>();
    private final AtomicReference<RedlockBackend> backend = new AtomicReference<>();
    private final AtomicReference<BackendContext> context = new AtomicReference<>();
    private LockClient client;

    @BeforeAll
    static void startMasters() {
        masters = RedisTestMasters.start(3);
    }

    @AfterAll
    static void stopMasters() {
        masters.close();
    }

    @BeforeEach
    final void connect() {
        masters.ports().forEach(port -> links.add(TcpProxy.to("127.0.0.1", port)));
        client = BackendClients.open(
                backendContext -> {
                    context.set(backendContext);
                    backend.set(RedlockBackend.open(options(), backendContext));
                    return backend();
                },
                FiveMastersTest.LONG_TIMEOUTS);
        FiveMastersTest.awaitAllVote(client);
    }

    @AfterEach
    final void assertNoLockKeys() {
        masters.all().forEach(RedisTestServer::resume);
        links.forEach(link -> {
            link.delay(Duration.ZERO);
            link.heal();
        });
        client.close();
        masters.each(redis -> Await.until(
                "no lock key remains", SOON, () -> List.of(KEYS.state()).containsAll(redis.keys("*"))));
        links.forEach(TcpProxy::close);
    }

    /** Returns the options of a client that uses the same links. */
    RedlockOptions options() {
        return RedlockOptions.connectTo(links.stream()
                        .map(link -> RedisURI.create("127.0.0.1", link.port()))
                        .toList())
                .leaseDuration(LEASE)
                .maxLease(LEASE)
                .nodeTimeout(NODE_TIMEOUT)
                .testOnlyNewMasters();
    }

    final LockClient client() {
        return client;
    }

    final RedlockBackend backend() {
        return Objects.requireNonNull(backend.get());
    }

    final BackendContext context() {
        return Objects.requireNonNull(context.get());
    }

    /** Returns the same context with another clock. */
    static BackendContext withClock(BackendContext context, LockClock clock) {
        return (BackendContext) Proxy.newProxyInstance(
                BackendContext.class.getClassLoader(), new Class<?>[] {BackendContext.class}, (proxy, method, args) -> {
                    try {
                        return method.getName().equals("clock") ? clock : method.invoke(context, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    final TcpProxy link(int master) {
        return links.get(master);
    }

    static RedisTestServer server(int master) {
        return masters.get(master);
    }

    final RedlockMaster master(int index) {
        return backend().services().masters().all().get(index);
    }

    static RawRedis raw(int master) {
        return masters.get(master).connect();
    }

    static void raw(int master, String... command) {
        try (RawRedis redis = raw(master)) {
            redis.call(command);
        }
    }

    static boolean has(int master, String key) {
        try (RawRedis redis = raw(master)) {
            return Long.valueOf(1).equals(redis.call("EXISTS", key));
        }
    }

    final void awaitAllVote() {
        FiveMastersTest.awaitAllVote(client);
    }

    /** Waits until all masters vote for a lease. */
    final void awaitVotesOfAll() throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            try (var lease = client.named("all").tryAcquire(SOON).orElseThrow()) {
                RedlockVoteSummary[] summary = new RedlockVoteSummary[1];
                Await.until("all masters have replied", SOON, () -> {
                    summary[0] = lease.unwrap(RedlockVoteSummary.class).orElseThrow();
                    return summary[0].count(RedlockVoteSummary.Vote.PENDING) == 0;
                });
                if (summary[0].count(RedlockVoteSummary.Vote.ACQUIRED) == 3) {
                    return;
                }
                assertThat(System.nanoTime() - start).as("%s", summary[0]).isLessThan(SOON.toNanos());
            }
        }
    }
}
