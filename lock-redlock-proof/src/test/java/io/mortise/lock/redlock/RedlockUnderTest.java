// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.ClusterLinks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Connects one conformance test to Redlock masters, under a separate key prefix. Each client has separate links to all masters,
 * which fail together.
 */
final class RedlockUnderTest extends LinkedBackendUnderTest<ClusterLinks> {
    private final String prefix = "conformance-" + UUID.randomUUID() + ":";
    private final TestServerExtension<RedisTestMasters> masters;

    RedlockUnderTest(TestServerExtension<RedisTestMasters> masters) {
        this.masters = masters;
    }

    @Override
    public String description() {
        return "Redlock, " + masters.address().split(",", -1).length + " masters";
    }

    /** Returns three times the lease, the longest lease that the conformance tests request. */
    private Duration maxLease() {
        return lease().multipliedBy(3);
    }

    /** Returns the extension that starts masters which keep their data over a restart. */
    static TestServerExtension<RedisTestMasters> masters(int count) {
        return new TestServerExtension<>(
                "redlock." + count,
                () -> RedisTestMasters.start(
                        count, RedisServerOptions.defaults().withKeptData()),
                RedisTestMasters::url);
    }

    private List<String> addresses() {
        return List.of(masters.address().replaceFirst("^redlock://", "").split(",", -1));
    }

    @Override
    protected ClusterLinks newLink() {
        return new ClusterLinks(addresses()) {
            @Override
            public void dropNextReply() {
                dropNextReplyOfEach();
            }
        };
    }

    @Override
    protected LockClient connect(ClusterLinks link, ClientOptions options) {
        return RedlockLocks.connect(
                RedlockOptions.connectTo(link.addresses().stream()
                                .map(address -> RedisURI.create("redis://" + address))
                                .toList())
                        .leaseDuration(lease())
                        .maxLease(maxLease())
                        .testOnlyNewMasters()
                        .nodeTimeout(lease().dividedBy(4))
                        .prefix(prefix),
                options);
    }

    /** Returns the ids of all clients; empty for external masters, which may have other clients. */
    @Override
    protected Set<String> sessions() {
        Set<String> ids = new TreeSet<>();
        masters.startedServerIfAny().ifPresent(own -> own.each(redis -> ids.addAll(redis.mortiseClients())));
        return ids;
    }

    @Override
    public Optional<String> url() {
        return Optional.of(masters.address() + "?prefix=" + prefix + "&lease=" + lease().toSeconds() + "s&maxLease="
                + maxLease().toSeconds() + "s&nodeTimeout="
                + lease().dividedBy(4).toMillis()
                + "ms&testOnlyNewMasters=true");
    }

    /** Returns the number of requests that the busiest master has received. */
    @Override
    public OptionalLong requests() {
        return masters.startedServerIfAny().isPresent()
                ? OptionalLong.of(masters.startedServer().most(RawRedis::scriptCallsExceptRenewals))
                : OptionalLong.empty();
    }

    /** Lets the grants of a client expire at all masters. */
    @Override
    public void expireSession(LockClient client) {
        masters.startedServer().each(redis -> redis.expireGrants(prefix, session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        String key = new RedlockKeys(prefix).of(new LockName(lockName)).grant();
        masters.startedServer().each(redis -> redis.call("DEL", key));
    }

    @Override
    public void stopServer() {
        masters.startedServer().all().forEach(RedisTestServer::stop);
    }

    @Override
    public void startServer() {
        masters.startedServer().all().forEach(RedisTestServer::restart);
    }

    /**
     * Returns whether Lettuce and Mortise did not name the thread, such as for the Netty executor that all clients of the JVM
     * share.
     */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("lettuce-") && !name.startsWith("mortise");
    }
}
