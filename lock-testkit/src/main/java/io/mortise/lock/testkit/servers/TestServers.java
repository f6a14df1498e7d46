// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds a server that already runs, or starts one. Close the endpoint when done. Thread-safe. */
public final class TestServers {
    private TestServers() {}

    /**
     * A ZooKeeper: the one that system property {@code mortise.test.zookeeper} or environment variable
     * {@code MORTISE_TEST_ZOOKEEPER} names by its connect string; without either, a new {@link ZooKeeperTestServer}.
     */
    public static TestEndpoint zooKeeper() {
        return given("zookeeper")
                .map(connectString -> new TestEndpoint(connectString, false, () -> {}))
                .orElseGet(() -> {
                    ZooKeeperTestServer server = ZooKeeperTestServer.start();
                    return new TestEndpoint(server.connectString(), true, server::close);
                });
    }

    /**
     * A Redis: the one that system property {@code mortise.test.redis} or environment variable {@code MORTISE_TEST_REDIS} names
     * by its URL, {@code redis://HOST:PORT}; without either, a new {@link RedisTestServer}. Containers are not tried.
     *
     * @throws IllegalStateException if there is neither; it says in one line what to install
     */
    public static TestEndpoint redis() {
        return given("redis").map(url -> new TestEndpoint(url, false, () -> {})).orElseGet(() -> {
            RedisTestServer server = RedisTestServer.start();
            return new TestEndpoint(server.url(), true, server::close);
        });
    }

    /**
     * An etcd: the one that system property {@code mortise.test.etcd} or environment variable {@code MORTISE_TEST_ETCD} names by
     * its URL, {@code etcd://HOST:PORT}; without either, a new {@link EtcdTestServer}. Containers are not tried.
     *
     * @throws IllegalStateException if there is neither; it says in one line what to install
     */
    public static TestEndpoint etcd() {
        return given("etcd").map(url -> new TestEndpoint(url, false, () -> {})).orElseGet(() -> {
            EtcdTestServer server = EtcdTestServer.start();
            return new TestEndpoint(server.url(), true, server::close);
        });
    }

    /**
     * The address of a server from outside that tests are to use: system property {@code mortise.test.STORE}, else environment
     * variable {@code MORTISE_TEST_STORE}. Empty: tests start their own.
     *
     * @param store such as {@code zookeeper}; a dot in it is an underscore of the environment variable
     */
    public static Optional<String> given(String store) {
        return Stream.of(
                        Optional.ofNullable(System.getProperty("mortise.test." + store)),
                        Optional.ofNullable(System.getenv(
                                "MORTISE_TEST_" + store.toUpperCase(Locale.ROOT).replace('.', '_'))))
                .flatMap(Optional::stream)
                .filter(value -> !value.isBlank())
                .findFirst();
    }
}
