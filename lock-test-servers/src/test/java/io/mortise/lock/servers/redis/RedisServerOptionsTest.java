// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;

class RedisServerOptionsTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void password_isRequired() {
        RedisServerOptions options = RedisServerOptions.defaults().withPassword("s3cret");
        try (RedisTestServer server = RedisTestServer.start(options);
                RawRedis stranger = RawRedis.connect(server.port());
                RawRedis redis = server.connect()) {
            assertThatThrownBy(() -> stranger.call("GET", "a"))
                    .isInstanceOf(RawRedis.ErrorReply.class)
                    .hasMessageStartingWith("NOAUTH");
            assertThat(redis.call("PING")).isEqualTo("PONG");
            assertThat(server.url()).isEqualTo("redis://:s3cret@127.0.0.1:" + server.port());
        }
    }

    @Test
    void user_hasThePermissionsOfItsRules() {
        RedisServerOptions options =
                RedisServerOptions.defaults().withUser("alice", "on", ">pw", "~lock:*", "+get", "+set");
        try (RedisTestServer server = RedisTestServer.start(options);
                RawRedis alice = RawRedis.connect(server.port(), "alice", "pw")) {
            assertThat(alice.call("SET", "lock:a", "1")).isEqualTo("OK");
            assertThatThrownBy(() -> alice.call("SET", "a", "1")).hasMessageStartingWith("NOPERM");
            assertThatThrownBy(() -> alice.call("DEL", "lock:a")).hasMessageStartingWith("NOPERM");
        }
    }

    @Test
    void replica_followsItsMaster() {
        RedisServerOptions options = RedisServerOptions.defaults().withPassword("pw");
        try (RedisTestServer master = RedisTestServer.start(options);
                RedisTestServer replica = RedisTestServer.start(options.withReplicaOf(master.port()));
                RawRedis onMaster = master.connect();
                RawRedis onReplica = replica.connect()) {
            onMaster.call("SET", "key", "1");
            Await.until("the replica has the key", LIMIT, () -> "1".equals(onReplica.call("GET", "key")));
            assertThatThrownBy(() -> onReplica.call("SET", "key", "2")).hasMessageStartingWith("READONLY");
        }
    }

    @Test
    void unixSocket_acceptsConnections() throws Exception {
        try (RedisTestServer server =
                        RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket());
                SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(server.unixSocket()));
            channel.write(ByteBuffer.wrap("PING\r\n".getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer reply = ByteBuffer.allocate(16);
            channel.read(reply);
            assertThat(new String(reply.array(), 0, reply.position(), StandardCharsets.US_ASCII))
                    .isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void tls_usesACertificateForTheServersAddress() throws Exception {
        try (RedisTestServer server =
                RedisTestServer.start(RedisServerOptions.defaults().withTls())) {
            assertThat(server.tlsUrl()).startsWith("rediss://127.0.0.1:");
            int port = Integer.parseInt(server.tlsUrl().substring("rediss://127.0.0.1:".length()));
            try (SSLSocket socket = (SSLSocket)
                    trusting(server.certificate()).getSocketFactory().createSocket("127.0.0.1", port)) {
                var parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
                RespCodec resp = new RespCodec(socket.getInputStream(), socket.getOutputStream());
                resp.write("PING");
                assertThat(resp.read()).isEqualTo("PONG");
            }
        }
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (var in = Files.newInputStream(certificate)) {
            trusted.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
