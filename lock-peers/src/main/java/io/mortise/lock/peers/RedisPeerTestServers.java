// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.util.List;

/** Starts the Redis server, or the independent Redis masters, on which the lock libraries are compared. */
final class RedisPeerTestServers implements PeerTestServers {
    private final RedisTestMasters servers;

    RedisPeerTestServers(int count) {
        servers = RedisTestMasters.start(count, RedisServerOptions.defaults().withKeptData());
    }

    @Override
    public List<String> addresses() {
        return servers.ports().stream().map(port -> "127.0.0.1:" + port).toList();
    }

    @Override
    public void deleteGrant(String entry) {
        for (RedisTestServer server : servers.all()) {
            try (RawRedis redis = server.connect()) {
                redis.call("DEL", entry);
            }
        }
    }

    @Override
    public void stop() {
        servers.all().forEach(RedisTestServer::stop);
    }

    @Override
    public void restart() {
        servers.all().forEach(RedisTestServer::restart);
    }

    @Override
    public void close() {
        servers.close();
    }
}
