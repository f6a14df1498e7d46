// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RawRedisTest {
    private static RedisTestServer server;

    private RawRedis redis;

    @BeforeAll
    static void startServer() {
        server = RedisTestServer.start(RedisServerOptions.defaults().withPassword("pw"));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        redis = server.connect();
        redis.call("FLUSHALL");
    }

    @AfterEach
    void disconnect() {
        redis.close();
    }

    @Test
    void call_returnsEachKindOfReply() {
        assertThat(redis.call("SET", "key", "grün \r\n")).isEqualTo("OK");
        assertThat(redis.call("GET", "key")).isEqualTo("grün \r\n");
        assertThat(redis.call("GET", "none")).isNull();
        assertThat(redis.call("INCR", "n")).isEqualTo(1L);
        assertThat(redis.call("MGET", "n", "none")).isEqualTo(Arrays.asList("1", null));
        assertThat(redis.call("EVAL", "return {1, {'a', ''}, {}}", "0"))
                .isEqualTo(List.of(1L, List.of("a", ""), List.of()));
    }

    @Test
    void call_throwsErrorReplies_butReturnsThoseInsideAList() {
        redis.call("SET", "key", "x");
        assertThatThrownBy(() -> redis.call("INCR", "key"))
                .isInstanceOf(RawRedis.ErrorReply.class)
                .hasMessageStartingWith("ERR value is not an integer");
        redis.call("MULTI");
        redis.call("INCR", "key");
        redis.call("GET", "key");
        assertThat((List<?>) redis.call("EXEC"))
                .satisfiesExactly(
                        first -> assertThat(first).isInstanceOf(RawRedis.ErrorReply.class),
                        second -> assertThat(second).isEqualTo("x"));
        assertThat(redis.call("PING")).isEqualTo("PONG");
    }

    @Test
    void commandCalls_countsCommandsSinceTheReset() {
        redis.call("GET", "before");
        redis.resetCommandCalls();
        assertThat(redis.commandCalls()).isEmpty();
        redis.call("GET", "a");
        redis.call("GET", "b");
        redis.call("EVAL", "return redis.call('SET', KEYS[1], '1')", "1", "a");
        redis.call("CLIENT", "GETNAME");
        assertThat(redis.commandCalls())
                .hasToString("{client|getname=1, eval=1, get=2, set=1}")
                .isEqualTo(redis.commandCalls());
    }

    @Test
    void mortiseClients_returnsOnlyClientsWithMortisesName() {
        try (RawRedis one = server.connect();
                RawRedis another = server.connect()) {
            one.call("CLIENT", "SETNAME", "mortise-0123456789abcdef");
            another.call("CLIENT", "SETNAME", "another-application");
            assertThat(redis.mortiseClients()).containsExactly("0123456789abcdef");
        }
    }

    @Test
    void expireGrants_affectsOnlyOneClient() {
        redis.call("SET", "lock:a", "owner client=0123456789abcdef more");
        redis.call("SET", "lock:a%queue", "client=0123456789abcdef");
        redis.call("SET", "lock:b", "owner client=fedcba9876543210 more");
        redis.call("SET", "other:a", "owner client=0123456789abcdef more");
        redis.expireGrants("lock:", "0123456789abcdef");
        assertThat(redis.keys("*")).containsExactly("lock:a%queue", "lock:b", "other:a");
    }

    @Test
    void monitor_returnsCommandsOfAllClients() {
        redis.call("GET", "before");
        try (RawRedis other = server.connect()) {
            List<String> lines = redis.monitor(() -> {
                other.call("SET", "a", "1");
                redis.call("EVAL", "return redis.call('GET', KEYS[1])", "1", "a");
            });
            assertThat(lines)
                    .satisfiesExactly(
                            first -> assertThat(first).endsWith("] \"SET\" \"a\" \"1\""),
                            second -> assertThat(second).contains("\"EVAL\""),
                            third -> assertThat(third).endsWith("lua] \"GET\" \"a\""));
        }
        assertThat(redis.monitor(() -> {})).isEmpty();
    }
}
