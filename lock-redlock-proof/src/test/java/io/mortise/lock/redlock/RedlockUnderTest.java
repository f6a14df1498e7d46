// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendOverLines;
import io.mortise.lock.testkit.ConformanceServer;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.ClusterLine;
import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestMasters;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** A prefix of its own for one test of the kit; each client reaches the masters over lines of its own, which break together. */
final class RedlockUnderTest extends BackendOverLines<ClusterLine> {
    private final String prefix = "conformance-" + UUID.randomUUID() + ":";
    private final ConformanceServer<RedisTestMasters> masters;

    RedlockUnderTest(ConformanceServer<RedisTestMasters> masters) {
        this.masters = masters;
    }

    /** A quarter of it is the longest that a master may be given to answer, and so long may one stall that shares two cores. */
    @Override
    public Duration lease() {
        return Duration.ofSeconds(4);
    }

    /** The kit asks for leases of its own, up to three times as long. */
    private Duration maxLease() {
        return lease().multipliedBy(3);
    }

    /** They keep their data over a restart. */
    static ConformanceServer<RedisTestMasters> masters(int count) {
        return new ConformanceServer<>(
                "redlock." + count,
                () -> RedisTestMasters.start(
                        count, RedisServerOptions.defaults().withKeptData()),
                RedisTestMasters::url);
    }

    private List<String> addresses() {
        return List.of(masters.address().replaceFirst("^redlock://", "").split(",", -1));
    }

    @Override
    protected ClusterLine newLine() {
        return new ClusterLine(addresses());
    }

    @Override
    protected LockClient connect(ClusterLine line, ClientOptions options) {
        return RedlockLocks.connect(
                RedlockOptions.connectTo(line.addresses().stream()
                                .map(address -> RedisURI.create("redis://" + address))
                                .toList())
                        .leaseDuration(lease())
                        .maxLease(maxLease())
                        .testOnlyNewMasters()
                        .nodeTimeout(lease().dividedBy(4))
                        .prefix(prefix),
                options);
    }

    /** The ids of the clients; on masters from outside nobody knows whose they are. */
    @Override
    protected Set<String> sessions() {
        Set<String> ids = new TreeSet<>();
        masters.ifOwn().ifPresent(own -> own.each(redis -> ids.addAll(redis.mortiseClients())));
        return ids;
    }

    @Override
    public Optional<String> url() {
        return Optional.of(masters.address() + "?prefix=" + prefix + "&lease=" + lease().toSeconds() + "s&maxLease="
                + maxLease().toSeconds() + "s&nodeTimeout="
                + lease().dividedBy(4).toMillis()
                + "ms&testOnlyNewMasters=true");
    }

    /** Of the master that has the most to do. */
    @Override
    public OptionalLong requests() {
        return masters.ifOwn().isPresent()
                ? OptionalLong.of(masters.own().most(BareRedis::scriptsButRenewals))
                : OptionalLong.empty();
    }

    /** Its time is over as far as the masters are concerned. */
    @Override
    public void expireSession(LockClient client) {
        masters.own().each(redis -> redis.expireGrants(prefix, session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        String key = new RedlockKeys(prefix).of(new LockName(lockName)).grant();
        masters.own().each(redis -> redis.call("DEL", key));
    }

    @Override
    public void stopServer() {
        masters.own().all().forEach(RedisTestServer::stop);
    }

    @Override
    public void startServer() {
        masters.own().all().forEach(RedisTestServer::restart);
    }

    /** Netty keeps one executor for the whole JVM; the client's own threads are Lettuce's. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("lettuce-") && !name.startsWith("mortise");
    }
}
