// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.testkit.servers.TestServers;
import io.mortise.lock.testkit.servers.ZooKeeperTestServer;
import org.jspecify.annotations.Nullable;

/**
 * The server that one class of conformance tests works with. One from outside must allow sessions of 3 s; what needs a hand on
 * the server itself is then not verified.
 */
final class ConformanceServer implements AutoCloseable {
    private final String address;
    private final @Nullable ZooKeeperTestServer own;

    private ConformanceServer(String address, @Nullable ZooKeeperTestServer own) {
        this.address = address;
        this.own = own;
    }

    static ConformanceServer start() {
        return TestServers.given("zookeeper")
                .map(given -> new ConformanceServer(given, null))
                .orElseGet(() -> {
                    ZooKeeperTestServer started = ZooKeeperTestServer.start();
                    return new ConformanceServer(started.connectString(), started);
                });
    }

    OneBasePath basePath() {
        return new OneBasePath(address, own);
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }
}
