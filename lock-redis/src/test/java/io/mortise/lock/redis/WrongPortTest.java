// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests connecting to a port that speaks another protocol or has no server, on each topology. */
@Tag("once")
@Execution(ExecutionMode.CONCURRENT) // the tests wait most of the time
class WrongPortTest {
    /** Much longer than a test: a permanent error must be reported earlier. */
    private static final ClientOptions LONG_CONNECT_TIMEOUT =
            ClientOptions.defaults().connectTimeout(Duration.ofMinutes(10));

    private static final Duration EARLY = Duration.ofSeconds(20);
    private static final Duration BRIEFLY = Duration.ofMillis(1_500);

    private static RedisTestServer server;

    @BeforeAll
    static void startServer() {
        server = RedisTestServer.start(RedisServerOptions.defaults().withTls());
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private static String url(String scheme, int port) {
        return scheme + "://127.0.0.1:" + port + (scheme.endsWith("-sentinel") ? "?master=mymaster" : "");
    }

    private static Throwable refusal(String url) throws Exception {
        CompletableFuture<Throwable> why = CompletableFuture.supplyAsync(() -> {
            try (LockClient none = Locks.connect(url, LONG_CONNECT_TIMEOUT)) {
                return new AssertionError("connected: " + none);
            } catch (RuntimeException e) {
                return e;
            }
        });
        return why.get(EARLY.toSeconds(), TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rediss", "rediss-sentinel", "rediss-cluster"})
    void S15_tlsAtAPlainPortIsSaidEarly(String scheme) throws Exception {
        assertThat(refusal(url(scheme, server.port())))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("127.0.0.1:" + server.port() + " does not speak TLS");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "redis-sentinel", "redis-cluster"})
    void S15_plaintextAtATlsPortIsReportedEarly(String scheme) throws Exception {
        int port = URI.create(server.tlsUrl()).getPort();
        assertThat(refusal(url(scheme, port)))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("127.0.0.1:" + port + " speaks TLS");
    }

    @Test
    void S15_aReadOnlyReplicaIsReportedEarly() throws Exception {
        try (RedisTestServer replica =
                RedisTestServer.start(RedisServerOptions.defaults().withReplicaOf(server.port()))) {
            assertThat(refusal(url("redis", replica.port())))
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContaining("127.0.0.1:" + replica.port())
                    .hasMessageContaining("is a read-only replica of 127.0.0.1:" + server.port());
        }
    }

    @Test
    void S15_aNodeOfAClusterIsReportedEarly() throws Exception {
        try (RedisTestServer node =
                RedisTestServer.start(RedisServerOptions.defaults().withArguments("--cluster-enabled", "yes"))) {
            for (String scheme : List.of("redis", "redis-sentinel")) {
                assertThat(refusal(url(scheme, node.port())))
                        .isInstanceOf(BackendRefusedException.class)
                        .hasMessageContaining("127.0.0.1:" + node.port())
                        .hasMessageContaining("redis-cluster://");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis-sentinel", "redis-cluster"})
    void S15_aSingleServerIsReportedEarlyToAClientOfSentinelsOrACluster(String scheme) throws Exception {
        assertThat(refusal(url(scheme, server.port())))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("127.0.0.1:" + server.port())
                .hasMessageContaining("use redis://");
    }

    /** The server may be about to start, as in a compose file, so the client retries. */
    @ParameterizedTest
    @ValueSource(strings = {"redis", "rediss", "redis-sentinel", "redis-cluster"})
    void S15_aRefusedConnectionIsRetriedAndNamed(String scheme) throws Exception {
        int port = freePort();
        Duration timeout = BRIEFLY;
        Throwable error;
        do { // a starved machine takes longer for the first try
            Duration limit = timeout;
            assertThat(limit).isLessThan(RedisTests.SOON);
            long start = System.nanoTime();
            error = catchThrowable(() ->
                    Locks.connect(url(scheme, port), ClientOptions.defaults().connectTimeout(limit)));
            assertThat(error).isInstanceOf(BackendUnavailableException.class);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(limit.toNanos());
            timeout = timeout.multipliedBy(2);
        } while (!error.toString().contains("connection refused at 127.0.0.1:" + port));
        assertThat(error).hasMessageNotContaining("null").hasMessageNotContaining("no answer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "rediss", "redis-sentinel", "redis-cluster", "rediss-cluster"})
    void S15_aSilentServerIsReportedWithoutNull(String scheme) throws Exception {
        try (ServerSocket silent = new ServerSocket(0)) {
            assertThatThrownBy(() -> Locks.connect(
                            url(scheme, silent.getLocalPort()),
                            ClientOptions.defaults().requestTimeout(BRIEFLY).connectTimeout(BRIEFLY.multipliedBy(3))))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + silent.getLocalPort())
                    .hasMessageNotContaining("null");
        }
    }

    @Test
    void S15_aServerThatClosesConnectionsIsReportedWithoutNull() throws Exception {
        try (ServerSocket closing = new ServerSocket(0)) {
            Thread closer = new Thread(() -> replyAndClose(closing, ""), "closer");
            closer.setDaemon(true);
            closer.start();
            assertThatThrownBy(() -> Locks.connect(
                            url("redis", closing.getLocalPort()),
                            ClientOptions.defaults().connectTimeout(BRIEFLY)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + closing.getLocalPort())
                    .hasMessageNotContaining("null");
        }
    }

    @Test
    void S15_anotherServiceIsReportedEarly() throws Exception {
        try (ServerSocket web = new ServerSocket(0)) {
            Thread answers = new Thread(() -> replyAndClose(web, "HTTP/1.1 400 Bad Request\r\n\r\n"), "answers");
            answers.setDaemon(true);
            answers.start();
            assertThat(refusal(url("redis", web.getLocalPort())))
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContaining("127.0.0.1:" + web.getLocalPort())
                    .hasMessageContaining("does not speak Redis' protocol");
        }
    }

    private static void replyAndClose(ServerSocket closing, String answer) {
        while (!closing.isClosed()) {
            try (Socket client = closing.accept()) {
                client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
