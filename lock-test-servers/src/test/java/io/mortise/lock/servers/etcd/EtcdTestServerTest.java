// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.process.FreePorts;
import io.mortise.lock.servers.process.ServerSource;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.Await;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Tag("once")
@Tag("long")
class EtcdTestServerTest {
    private static final Logger log = LoggerFactory.getLogger(EtcdTestServerTest.class);

    @Test
    void start_usesItsOwnPort() {
        long start = System.nanoTime();
        try (EtcdTestServer one = EtcdTestServer.start()) {
            log.info("event=figures start_ms={}", (System.nanoTime() - start) / 1_000_000);
            try (EtcdTestServer other = EtcdTestServer.start()) {
                one.connect().put("key", "1");
                assertThat(other.connect().get("key")).isEmpty();
                assertThat(one.port()).isNotEqualTo(other.port());
                assertThat(one.url()).isEqualTo("etcd://127.0.0.1:" + one.port());
                assertThat(one.endpoint()).isEqualTo("http://127.0.0.1:" + one.port());
                assertThat(one.lastLines()).isEmpty();
            }
        }
    }

    @Test
    void leaseOfOneSecond_isExtendedToTwo() {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            RawEtcd etcd = server.connect();
            assertThat(etcd.grantedTtl(etcd.grantLease(Duration.ofSeconds(1)))).contains(Duration.ofSeconds(2));
            assertThat(etcd.grantedTtl(etcd.grantLease(Duration.ofSeconds(3)))).contains(Duration.ofSeconds(3));
        }
    }

    @Test
    void restart_losesAllData_withoutKeptData() {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            assertThat(keysAfterRestart(server)).isZero();
            assertThat(server.connect().revision()).isEqualTo(1);
        }
        try (EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData())) {
            assertThat(keysAfterRestart(server)).isEqualTo(100);
            assertThat(server.connect().revision()).isEqualTo(101);
        }
    }

    private static int keysAfterRestart(EtcdTestServer server) {
        long pid = server.pid();
        RawEtcd etcd = server.connect();
        for (int i = 0; i < 100; i++) {
            etcd.put("key" + i, "1");
        }
        server.kill();
        assertThat(server.isAlive()).isFalse();
        assertThatThrownBy(() -> etcd.get("key")).isInstanceOf(UncheckedIOException.class);
        server.restart();
        assertThat(server.pid()).isNotEqualTo(pid);
        return etcd.list("key").size();
    }

    @Test
    void stop_endsTheServer_evenIfPaused() {
        try (EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData())) {
            server.connect().put("key", "1");
            server.pause();
            server.stop();
            assertThat(server.isAlive()).isFalse();
            assertThat(server.isPaused()).isFalse();
            server.restart();
            assertThat(server.connect().get("key")).isPresent();
        }
    }

    @Test
    void pausedServer_doesNotReply_untilResumed() throws Exception {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            RawEtcd etcd = server.connect();
            server.pause();
            assertThat(server.isPaused()).isTrue();
            CompletableFuture<Long> reply = CompletableFuture.supplyAsync(() -> etcd.put("key", "1"));
            assertThat(Await.holdsWithin(Duration.ofMillis(300), reply::isDone)).isFalse();
            server.resume();
            assertThat(reply.get(20, TimeUnit.SECONDS)).isEqualTo(2);
            assertThat(server.isPaused()).isFalse();
        }
    }

    @Test
    void close_endsAPausedServer_andDeletesItsData() {
        EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withTls());
        Path dir = server.certificate().getParent();
        assertThat(dir).isDirectory();
        server.pause();
        server.close();
        server.close();
        assertThat(server.isAlive()).isFalse();
        assertThat(dir).doesNotExist();
    }

    @Test
    void serverOnATakenPort_failsToStart() {
        try (EtcdTestServer other = EtcdTestServer.start();
                TempDir dir = TempDir.create("etcd")) {
            List<Integer> free = FreePorts.forServers(2);
            List<EtcdMemberConfig> alone = EtcdMemberConfig.on(List.of(other.port(), free.get(0), free.get(1)));
            ServerSource source = ServerSource.etcd();
            try (EtcdTestServer late =
                    new EtcdTestServer(EtcdServerOptions.defaults(), source, dir, alone.get(0), alone)) {
                assertThatThrownBy(late::awaitServing)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("already in use");
            }
        }
    }

    @Test
    void badArgument_isReportedWithTheServersLastLines() {
        EtcdServerOptions options = EtcdServerOptions.defaults().withArguments("--auth-token", "nope");
        assertThatThrownBy(() -> EtcdTestServer.start(options))
                .hasMessageContaining("ended")
                .hasMessageContaining("invalid auth options");
    }
}
