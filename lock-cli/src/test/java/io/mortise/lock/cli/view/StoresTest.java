// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.CommandLineRun;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the commands for operators on real stores. */
@Tag("once")
class StoresTest {
    @Test
    void redis() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                RawRedis redis = server.connect()) {
            redis.call("SET", "lock:plain", "\u001b]0;mine\u0007", "PX", "60000");
            CommandLineRun who = CommandLineRun.of("who", "plain", "--url", server.url());
            assertThat(who.code()).isZero();
            assertThat(who.out())
                    .contains("foreign", "\"\\u001b]0;mine\\u0007\"")
                    .doesNotContain("\u001b");
            assertThat(CommandLineRun.of("list", "--url", server.url()).out()).contains("plain", "foreign");
            assertCommandsWork(server.url());
            assertThat(CommandLineRun.of("release", "--force", "plain", "-y", "--url", server.url())
                            .code())
                    .isZero();
            assertThat(redis.call("EXISTS", "lock:plain")).isEqualTo(0L);
        }
    }

    @Test
    void zooKeeper() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start()) {
            String url = "zookeeper://" + server.connectString() + "/locks";
            assertCommandsWork(url);
            CommandLineRun doctor = CommandLineRun.of("doctor", "--url", url);
            assertThat(doctor.code()).isEqualTo(1);
            assertThat(doctor.out()).contains("WARNING  a standalone server", "open to everyone");
        }
    }

    @Test
    void etcd() throws Exception {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            assertCommandsWork(server.url());
            CommandLineRun doctor = CommandLineRun.of("doctor", "--url", server.url());
            assertThat(doctor.code()).isEqualTo(1);
            assertThat(doctor.out()).contains("WARNING  a single server");
        }
    }

    private static void assertCommandsWork(String url) throws Exception {
        try (LockClient client = Locks.connect(url);
                Lease lease = client.named("team/a").acquire()) {
            String token = Long.toString(lease.fencingToken());
            assertThat(CommandLineRun.of("who", "team/a", "--url", url).out())
                    .contains(lease.ownerId(), "token     " + token);
            assertThat(CommandLineRun.of("list", "team/*", "--url", url).lines())
                    .hasSize(2);
            assertThat(CommandLineRun.of("release", "--force", "team/a", "--token", token + "1", "-y", "--url", url)
                            .code())
                    .isEqualTo(1);
            assertThat(lease.isHeld()).isTrue();
            assertThat(CommandLineRun.of("release", "--force", "team/a", "--token", token, "-y", "--url", url)
                            .code())
                    .isZero();
            assertThat(CommandLineRun.of("who", "team/a", "--url", url).code()).isEqualTo(1);
        }
    }
}
