// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
@Tag("long")
class EtcdServerOptionsTest {
    private static final char[] NONE = new char[0];

    @Test
    void rootPassword_isRequired_evenAfterRestarts() {
        EtcdServerOptions options = EtcdServerOptions.defaults().withRootPassword("s3cret");
        try (EtcdTestServer server = EtcdTestServer.start(options);
                EtcdTestServer keeping = EtcdTestServer.start(options.withKeptData())) {
            assertThat(server.url()).isEqualTo("etcd://root:s3cret@127.0.0.1:" + server.port());
            assertPasswordIsRequired(server);
            assertPasswordIsRequired(keeping);
            server.connect().put("key", "1");
            keeping.connect().put("key", "1");
            server.restart();
            keeping.restart();
            assertPasswordIsRequired(server);
            assertPasswordIsRequired(keeping);
            // Uses new clients: if a token is older than the restart, a server without data waits until it has as many
            // changes as when the token was issued.
            assertThat(server.connect().list("")).isEmpty();
            assertThat(keeping.connect().list("")).hasSize(1);
        }
    }

    private static void assertPasswordIsRequired(EtcdTestServer server) {
        assertThatThrownBy(() -> RawEtcd.connect(server.port()).get("key"))
                .isInstanceOf(RawEtcd.ErrorReply.class)
                .hasMessage("etcdserver: user name is empty");
        assertThatThrownBy(() -> RawEtcd.connect(server.port(), "root", "wrong").get("key"))
                .isInstanceOf(RawEtcd.ErrorReply.class)
                .hasMessageStartingWith("etcdserver: authentication failed");
    }

    @Test
    void user_mayWriteOnlyKeysWithItsPrefix() {
        try (EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withRootPassword("pw"))) {
            server.addUser("alice", "al1ce", "lock/");
            RawEtcd alice = RawEtcd.connect(server.port(), "alice", "al1ce");
            alice.put("lock/a", "1");
            assertThat(alice.list("lock/")).hasSize(1);
            assertThatThrownBy(() -> alice.put("a", "1"))
                    .isInstanceOfSatisfying(
                            RawEtcd.ErrorReply.class, e -> assertThat(e.code()).isEqualTo(7))
                    .hasMessage("etcdserver: permission denied");
        }
    }

    @Test
    void tls_usesACertificateForTheServersAddress() throws Exception {
        try (EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withTls())) {
            assertThat(server.tlsUrl()).startsWith("etcds://127.0.0.1:");
            assertThat(version(server, false)).contains("\"etcdserver\":\"3.");
            assertThat(server.connect().status().leads()).isTrue();
        }
    }

    @Test
    void clientCertificates_areRequired() throws Exception {
        try (EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withClientCertificates())) {
            assertThatThrownBy(() -> version(server, false))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
            assertThat(version(server, true)).contains("\"etcdserver\":\"3.");
        }
    }

    @Test
    void missingFeature_isAnError() {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            assertThatThrownBy(server::tlsUrl).hasMessageContaining("without TLS");
            assertThatThrownBy(server::clientKey).hasMessageContaining("without client certificates");
            assertThatThrownBy(() -> server.addUser("a", "b", "c")).hasMessageContaining("without users");
        }
    }

    /** Does not use HttpClient, which may wait forever for a server that rejects the client after the handshake. */
    private static String version(EtcdTestServer server, boolean withCertificate) throws Exception {
        HttpsURLConnection connection = (HttpsURLConnection)
                URI.create(server.tlsEndpoint() + "/version").toURL().openConnection();
        connection.setSSLSocketFactory(context(
                        server.certificate(),
                        withCertificate
                                ? Optional.of(keys(server.clientCertificate(), server.clientKey()))
                                : Optional.empty())
                .getSocketFactory());
        connection.setReadTimeout(20_000);
        try (InputStream response = connection.getInputStream()) {
            return new String(response.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static SSLContext context(Path trusted, Optional<KeyStore> own) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("server", certificate(trusted));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own.orElse(null), NONE);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore keys(Path certificate, Path key) throws Exception {
        String pem = Files.readString(key).replaceAll("-----.*-----", "");
        PrivateKey decoded = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("client", decoded, NONE, new Certificate[] {certificate(certificate)});
        return store;
    }

    private static Certificate certificate(Path file) throws Exception {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
    }
}
