// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestServer;
import io.mortise.lock.testkit.servers.TestServers;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The server that one class of conformance tests works with. With one from outside, what needs a hand on the server itself is
 * not verified.
 */
final class ConformanceServer implements AutoCloseable {
    private final URI url;
    private final @Nullable RedisTestServer own;

    private ConformanceServer(String url, @Nullable RedisTestServer own) {
        this.url = URI.create(url);
        this.own = own;
    }

    static ConformanceServer start() {
        return TestServers.given("redis")
                .map(given -> new ConformanceServer(given, null))
                .orElseGet(() -> {
                    RedisTestServer started =
                            RedisTestServer.start(RedisServerOptions.defaults().withKeptData());
                    return new ConformanceServer(started.url(), started);
                });
    }

    OnePrefix prefix() {
        return new OnePrefix(url.getHost(), url.getPort(), own);
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }
}
