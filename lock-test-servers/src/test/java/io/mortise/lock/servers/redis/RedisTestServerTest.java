// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.testkit.process.Await;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RedisTestServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void start_usesItsOwnPort() {
        try (RedisTestServer one = RedisTestServer.start();
                RedisTestServer other = RedisTestServer.start();
                RawRedis redis = one.connect()) {
            assertThat(one.port()).isNotEqualTo(other.port());
            assertThat(one.url()).isEqualTo("redis://127.0.0.1:" + one.port());
            assertThat(redis.info("server"))
                    .containsEntry("process_id", Long.toString(one.pid()))
                    .containsEntry("tcp_port", Integer.toString(one.port()));
            assertThat(redis.call("CONFIG", "GET", "bind")).isEqualTo(List.of("bind", "127.0.0.1"));
        }
    }

    @Test
    void setClock_takesEffectImmediately() {
        assumeTrue(RedisTestServer.canSetClock(), "libfaketime is not installed");
        try (RedisTestServer server =
                        RedisTestServer.start(RedisServerOptions.defaults().withOwnClock());
                RawRedis redis = server.connect()) {
            for (Duration ahead : List.of(Duration.ofHours(2), Duration.ofSeconds(-90), Duration.ZERO)) {
                server.setClock(ahead);
                long shown =
                        Long.parseLong(String.valueOf(((List<?>) Objects.requireNonNull(redis.call("TIME"))).get(0)));
                assertThat(shown - ahead.toSeconds())
                        .isCloseTo(System.currentTimeMillis() / 1_000, within(LIMIT.toSeconds()));
            }
        }
    }

    @Test
    void restart_losesAllData_withoutKeptData() {
        try (RedisTestServer server = RedisTestServer.start()) {
            assertThat(afterRestart(server)).isNull();
        }
        try (RedisTestServer server =
                RedisTestServer.start(RedisServerOptions.defaults().withKeptData())) {
            assertThat(afterRestart(server)).isEqualTo("1");
        }
    }

    private static @Nullable Object afterRestart(RedisTestServer server) {
        long pid = server.pid();
        int port = server.port();
        try (RawRedis redis = server.connect()) {
            redis.call("SET", "key", "1");
        }
        server.kill();
        assertThat(server.isAlive()).isFalse();
        assertThatThrownBy(server::connect).isInstanceOf(UncheckedIOException.class);
        server.restart();
        assertThat(server.pid()).isNotEqualTo(pid);
        assertThat(server.port()).isEqualTo(port);
        try (RawRedis redis = server.connect()) {
            return redis.call("GET", "key");
        }
    }

    @Test
    void stop_endsTheServerGracefully_evenIfPaused() {
        try (RedisTestServer server = RedisTestServer.start()) {
            server.pause();
            server.stop();
            assertThat(server.isAlive()).isFalse();
            assertThat(server.lastLines()).contains("Redis is now ready to exit");
            server.restart();
            assertThat(server.isAlive()).isTrue();
        }
    }

    @Test
    void pausedServer_doesNotReply_untilResumed() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                RawRedis redis = server.connect()) {
            server.pause();
            CompletableFuture<Object> reply = CompletableFuture.supplyAsync(() -> redis.call("PING"));
            assertThat(Await.holdsWithin(Duration.ofMillis(300), reply::isDone)).isFalse();
            server.resume();
            assertThat(reply.get(20, TimeUnit.SECONDS)).isEqualTo("PONG");
        }
    }

    @Test
    void close_endsAPausedServer_andDeletesItsData() {
        RedisTestServer server =
                RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket());
        Path dir = server.unixSocket().getParent();
        assertThat(dir).isDirectory();
        server.pause();
        server.close();
        server.close();
        assertThat(server.isAlive()).isFalse();
        assertThat(dir).doesNotExist();
    }

    @Test
    void badArgument_isReportedWithTheServersLastLines() {
        RedisServerOptions options = RedisServerOptions.defaults().withArguments("--no-such-option", "1");
        assertThatThrownBy(() -> RedisTestServer.start(options)).hasMessageContaining("no-such-option");
    }
}
