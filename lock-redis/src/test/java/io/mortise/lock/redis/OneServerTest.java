// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Base of tests with one server for each class and a raw connection to it. */
abstract class OneServerTest {
    static RedisTestServer server;
    static RawRedis redis;

    @BeforeAll
    static void startServer() {
        server = RedisTestServer.start();
        redis = server.connect();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
        server.close();
    }

    static RedisOptions options() {
        return RedisOptions.connectTo(RedisURI.create(server.url()));
    }
}
