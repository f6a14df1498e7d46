// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendOverLines;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestServer;
import io.mortise.lock.testkit.servers.TcpProxies;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * The masters of a conformance test, which keep their data over a restart. Each test has a prefix of its own, and each client
 * reaches the masters over lines of its own, which break together.
 */
final class ConformanceMasters implements AutoCloseable {
    private final TestMasters masters;

    ConformanceMasters(int count) {
        masters = TestMasters.start(count, RedisServerOptions.defaults().withKeptData());
    }

    /** A prefix that nobody has used yet. */
    BackendUnderTest prefix() {
        return new OnePrefix("conformance-" + UUID.randomUUID() + ":");
    }

    @Override
    public void close() {
        masters.close();
    }

    private final class OnePrefix extends BackendOverLines<TcpProxies> {
        private final String prefix;

        OnePrefix(String prefix) {
            this.prefix = prefix;
        }

        @Override
        protected TcpProxies newLine() {
            return TcpProxies.to(masters.ports());
        }

        @Override
        protected LockClient connect(TcpProxies line, ClientOptions options) {
            return RedlockLocks.connect(
                    RedlockOptions.connectTo(line.all().stream()
                                    .map(proxy -> RedisURI.create("127.0.0.1", proxy.port()))
                                    .toList())
                            .leaseDuration(lease())
                            .prefix(prefix),
                    options);
        }

        @Override
        protected Set<String> sessions() {
            return masters.clientIds();
        }

        @Override
        public Optional<String> url() {
            return Optional.of(masters.url() + "?prefix=" + prefix + "&lease=" + lease().toSeconds() + "s");
        }

        /** Of the master that has the most to do. */
        @Override
        public OptionalLong requests() {
            return OptionalLong.of(masters.most(TestMasters::requestsButRenewals));
        }

        /** Its time is over as far as the masters are concerned. */
        @Override
        public void expireSession(LockClient client) {
            masters.expireGrants(prefix, session(client));
        }

        @Override
        public void deleteGrant(String lockName) {
            String key = new RedlockKeys(prefix).of(new LockName(lockName)).grant();
            masters.each(redis -> redis.call("DEL", key));
        }

        @Override
        public void stopServer() {
            masters.all().forEach(RedisTestServer::stop);
        }

        @Override
        public void startServer() {
            masters.all().forEach(RedisTestServer::restart);
        }

        /** Netty keeps one executor for the whole JVM; the client's own threads are Lettuce's. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return !name.startsWith("lettuce-") && !name.startsWith("mortise");
        }
    }
}
