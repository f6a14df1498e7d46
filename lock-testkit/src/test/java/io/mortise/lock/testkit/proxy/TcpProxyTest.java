// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private EchoServer server;
    private TcpProxy proxy;

    @BeforeEach
    void start() throws IOException {
        server = new EchoServer();
        proxy = TcpProxy.to("127.0.0.1", server.port());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        server.close();
    }

    @Test
    void forwards_bothWays_andCountsConnections() throws IOException {
        try (Socket one = connect();
                Socket two = connect()) {
            assertThat(echo(one, 1)).isEqualTo(1);
            assertThat(echo(two, 2)).isEqualTo(2);
            assertThat(proxy.connections()).isEqualTo(2);
        }
        Await.until("the connections are closed", LIMIT, () -> proxy.connections() == 0);
    }

    @Test
    void withConnectRetry_retries_untilTheTargetListens() throws Exception {
        int port = server.port();
        server.close();
        try (TcpProxy retrying = TcpProxy.to("127.0.0.1", port).withConnectRetry(Duration.ofHours(1));
                Socket client = new Socket(InetAddress.getLoopbackAddress(), retrying.port())) {
            client.setSoTimeout((int) LIMIT.toMillis());
            client.getOutputStream().write(7);
            Await.until("the byte waits in the proxy", LIMIT, () -> retrying.heldBytes() == 1);
            server = new EchoServer(port);
            assertThat(client.getInputStream().read()).isEqualTo(7);
        }
    }

    @Test
    void forwards_muchData_inOrder() throws Exception {
        byte[] sent = new byte[12 << 20];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = (byte) (i * 31 + i / 251);
        }
        try (Socket socket = connect()) {
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                try {
                    socket.getOutputStream().write(sent);
                    socket.shutdownOutput();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            byte[] got = socket.getInputStream().readAllBytes();
            writer.get(10, TimeUnit.SECONDS);
            assertThat(Arrays.equals(got, sent)).isTrue();
        }
    }

    @Test
    void delay_addsLatencyInEachDirection_withoutSerialising() throws IOException {
        try (Socket socket = connect()) {
            echo(socket, 1);
            proxy.delay(Duration.ofMillis(50));
            Duration shortest = Duration.ofDays(1);
            for (int tries = 0; tries < 5; tries++) {
                Duration took = chunksThereAndBack(socket);
                assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(100));
                shortest = took.compareTo(shortest) < 0 ? took : shortest;
            }
            assertThat(shortest).isLessThan(Duration.ofMillis(800));
            proxy.delay(Duration.ZERO);
            assertThat(echo(socket, 7)).isEqualTo(7);
        }
    }

    /** Sends chunks of one byte, for which a proxy that delays them one after the other would need 20 x 50 ms. */
    private Duration chunksThereAndBack(Socket socket) throws IOException {
        long start = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            int sent = i + 1;
            socket.getOutputStream().write(i);
            Await.holdsWithin(Duration.ofMillis(10), () -> proxy.heldBytes() >= sent);
        }
        for (int i = 0; i < 20; i++) {
            assertThat(socket.getInputStream().read()).isEqualTo(i);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void delay_isPreciseToAboutAMillisecond() throws IOException {
        try (Socket socket = connect()) {
            echo(socket, 1);
            proxy.delay(Duration.ofMillis(5));
            // Takes the best of many round trips, since the machine may be busy for a while.
            long begin = System.nanoTime();
            long best = Long.MAX_VALUE;
            while (best >= 12_000_000 && System.nanoTime() - begin < LIMIT.toNanos()) {
                long start = System.nanoTime();
                echo(socket, 2);
                long took = System.nanoTime() - start;
                assertThat(took).isGreaterThanOrEqualTo(10_000_000);
                best = Math.min(best, took);
            }
            assertThat(Duration.ofNanos(best)).isLessThan(Duration.ofMillis(12));
        }
    }

    @Test
    void blackHole_dropsTraffic_andHealDeliversIt() throws IOException {
        try (Socket before = connect()) {
            echo(before, 1);
            proxy.blackHole();
            before.getOutputStream().write(2);
            try (Socket during = connect()) {
                during.getOutputStream().write(3);
                Await.until("the proxy has received both bytes", LIMIT, () -> proxy.heldBytes() >= 2);
                assertThat(server.received()).isEqualTo(1);
                during.setSoTimeout(50);
                assertThatThrownBy(() -> during.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);

                proxy.heal();
                during.setSoTimeout(10_000);
                assertThat(before.getInputStream().read()).isEqualTo(2);
                assertThat(during.getInputStream().read()).isEqualTo(3);
                assertThat(proxy.heldBytes()).isZero();
            }
        }
    }

    @Test
    void cut_resetsAndRefuses_untilHealed() throws IOException {
        try (Socket before = connect()) {
            echo(before, 1);
            proxy.cut();
            assertThatThrownBy(() -> before.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(this::connect).isInstanceOf(SocketException.class);
            assertThat(proxy.connections()).isZero();
        }
        proxy.heal();
        try (Socket after = connect()) {
            assertThat(echo(after, 2)).isEqualTo(2);
        }
    }

    @Test
    void withheldReply_isLostByReset_thoughExecuted() throws IOException {
        try (Socket socket = connect()) {
            echo(socket, 1);
            proxy.withholdReplies();
            socket.getOutputStream().write(2);
            Await.until(
                    "the request is executed and the proxy has its reply",
                    LIMIT,
                    () -> proxy.heldBytes() >= 1 && server.received() == 2);
            proxy.resetConnections();
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
        }
        proxy.heal();
        try (Socket socket = connect()) {
            assertThat(echo(socket, 3)).isEqualTo(3);
            assertThat(server.received()).isEqualTo(3);
        }
    }

    @Test
    void withheldReply_isDeliveredByHeal() throws IOException {
        try (Socket socket = connect()) {
            proxy.withholdReplies();
            socket.getOutputStream().write(2);
            Await.until("the proxy has the reply", LIMIT, () -> proxy.heldBytes() >= 1 && server.received() == 1);
            proxy.heal();
            assertThat(socket.getInputStream().read()).isEqualTo(2);
        }
    }

    @Test
    void dropNextReply_dropsOneReply_once() throws IOException {
        try (Socket socket = connect()) {
            echo(socket, 1);
            proxy.dropNextReply();
            socket.getOutputStream().write(2);
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(server.received()).isEqualTo(2);
        }
        try (Socket socket = connect()) {
            assertThat(echo(socket, 3)).isEqualTo(3);
        }
        assertThat(proxy.droppedReplies()).hasValue(1);
    }

    @Test
    void deadTarget_resetsTheClient() throws IOException {
        server.close();
        try (Socket socket = connect()) {
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void close_endsThreadAndConnections() throws IOException {
        try (Socket socket = connect()) {
            echo(socket, 1);
            String thread = "mortise-proxy-" + proxy.port();
            proxy.close();
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .doesNotContain(thread);
            assertThatThrownBy(() -> proxy.heal()).isInstanceOf(IllegalStateException.class);
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        socket.setSoTimeout(10_000);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private static int echo(Socket socket, int value) throws IOException {
        socket.getOutputStream().write(value);
        return socket.getInputStream().read();
    }
}
