// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that an outage is logged twice, at its start and its end, and not for each failed request. */
@Tag("once")
class EtcdOutageLogTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private final int before = all().size();

    private static List<String> all() {
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        try {
            return Files.exists(log) ? Files.readAllLines(log) : List.of(); // no output yet
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the lines logged since the start of this test, by Mortise and by the libraries. */
    private List<String> lines() {
        List<String> all = all();
        return all.subList(before, all.size());
    }

    private long lines(String event) {
        return lines().stream().filter(line -> line.contains(event)).count();
    }

    @Test
    void S15_aMissingServerIsReportedAsRefusingAndLoggedOnce() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        ClientOptions shortTimeout = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(5));
        assertThatThrownBy(() -> Locks.connect("etcd://127.0.0.1:" + port, shortTimeout))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("127.0.0.1:" + port + " refused the connection");
        assertThat(lines("event=unreachable endpoints=etcd://127.0.0.1:" + port))
                .isEqualTo(1);
        assertThat(lines()).hasSizeLessThan(5);
    }

    @Test
    void S15_anOutageIsLoggedAtItsStartAndItsEnd() throws Exception {
        try (EtcdTestServer server =
                        EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData());
                LockClient client = Locks.connect(server.url() + "?lease=1m")) {
            client.named("x").acquire();
            int connected = lines().size();
            server.stop();
            assertThat(client.named("y").acquireAsync()).isNotDone();
            Await.until("the outage is noticed", SOON, () -> lines("event=unreachable endpoints=" + server.url()) > 0);
            assertThat(Await.holdsWithin(Duration.ofSeconds(5), () -> false)).isFalse();
            server.restart();
            Await.until("the outage ended", SOON, () -> lines("event=reachable-again endpoints=" + server.url()) > 0);
            assertThat(lines("event=unreachable")).isEqualTo(1);
            assertThat(lines("event=reachable-again")).isEqualTo(1);
            assertThat(lines()).hasSizeLessThan(connected + 10);
        }
    }
}
