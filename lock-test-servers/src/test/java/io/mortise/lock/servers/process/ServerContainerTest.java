// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.GuardedProcess;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the servers in real containers: by Podman with images of this machine's programs, else by Docker with the default images.
 * A child JVM has no programs on its PATH.
 */
@Tag("once")
@Tag("long")
class ServerContainerTest {
    private static final Duration LIMIT = Duration.ofSeconds(150);

    @TempDir
    private static Path dir;

    private static @Nullable PodmanEngine podman;
    private static Map<String, String> environment = Map.of();

    @BeforeAll
    static void startEngine() {
        if (PodmanEngine.isUsable()) {
            PodmanEngine engine = new PodmanEngine(dir);
            podman = engine;
            engine.importPrograms(
                    "docker.io/library/redis:8.2.2", List.of("redis-server"), List.of(ServerBinary.redis()));
            engine.importPrograms("quay.io/coreos/etcd:v3.6.5", List.of("etcd"), List.of(ServerBinary.etcd()));
            environment = engine.startService();
        } else {
            Assumptions.assumeTrue(
                    ServerContainer.problem().isEmpty(), "needs Podman and runc, as root, or Docker on this machine");
        }
    }

    @AfterAll
    static void stopEngine() {
        if (podman != null) {
            podman.close();
        }
    }

    @Test
    void redis() {
        run(RedisInContainer.class);
    }

    @Test
    void etcd() {
        run(EtcdInContainer.class);
    }

    private static void run(Class<?> main) {
        List<String> command = new ArrayList<>(List.of("env", "PATH=/nonexistent"));
        environment.forEach((name, value) -> command.add(name + "=" + value));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        try (GuardedProcess child = GuardedProcess.start(main.getSimpleName(), dir.resolve("none"), command)) {
            assertThat(child.awaitExit(LIMIT)).as(child.lastLines()).isZero();
        }
    }

    static final class RedisInContainer {
        public static void main(String[] args) {
            try (RedisTestServer server = RedisTestServer.start()) {
                assertThatThrownBy(server::pid).isInstanceOf(UnsupportedOperationException.class);
                set(server, "key", "value");
                server.pause();
                assertThat(server.isAlive()).isTrue();
                server.kill();
                assertThat(server.isAlive()).isFalse();
                server.restart();
                assertThat(get(server, "key")).isNull();
                try (RawRedis redis = server.connect()) {
                    assertThat(redis.commandCalls()).containsKey("get");
                }
                server.stop();
                assertThat(server.isAlive()).isFalse();
                assertThat(server.lastLines()).contains("User requested shutdown");
            }
            RedisServerOptions options =
                    RedisServerOptions.defaults().withKeptData().withTls().withPassword("secret");
            try (RedisTestServer server = RedisTestServer.start(options)) {
                set(server, "key", "value");
                server.restart();
                assertThat(get(server, "key")).isEqualTo("value");
            }
            assertThatThrownBy(() ->
                            RedisTestServer.start(RedisServerOptions.defaults().withArguments("--no-such", "1")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("FATAL CONFIG FILE ERROR");
            assertThatThrownBy(() ->
                            RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("No redis-server on the PATH");
        }

        private static void set(RedisTestServer server, String key, String value) {
            try (RawRedis redis = server.connect()) {
                redis.call("SET", key, value);
            }
        }

        private static @Nullable Object get(RedisTestServer server, String key) {
            try (RawRedis redis = server.connect()) {
                return redis.call("GET", key);
            }
        }
    }

    static final class EtcdInContainer {
        public static void main(String[] args) {
            try (EtcdTestServer server =
                    EtcdTestServer.start(EtcdServerOptions.defaults().withTls())) {
                assertThatThrownBy(server::pid).isInstanceOf(UnsupportedOperationException.class);
                server.connect().put("key", "value");
                server.pause();
                assertThat(server.isPaused()).isTrue();
                server.resume();
                assertThat(server.connect().get("key")).isPresent();
                server.restart();
                assertThat(server.connect().get("key")).isEmpty();
            }
            try (EtcdTestServer server =
                    EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData())) {
                server.connect().put("key", "value");
                server.kill();
                assertThatThrownBy(() -> server.connect().revision()).isInstanceOf(UncheckedIOException.class);
                server.restart();
                assertThat(server.connect().get("key")).isPresent();
            }
        }
    }
}
