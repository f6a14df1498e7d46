// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.grpc.netty.GrpcSslContexts;
import io.mortise.lock.etcd.connection.EtcdClientFactory;
import io.netty.handler.ssl.SslContext;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdOptionsTest {
    private final EtcdOptions options = EtcdOptions.connectTo(List.of("h:2379"));

    @ParameterizedTest
    @ValueSource(strings = {"", "h", "h:", "h:0", "h:65536", "h:x", ":1", "http://h:1", "h:1/x", "h:1,i:2", "::1:2379"})
    void S14_badEndpointsAreRefused(String endpoint) {
        assertThatThrownBy(() -> EtcdOptions.connectTo(List.of("good:1", endpoint)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + endpoint + "\"")
                .hasMessageContaining("1 to 65535");
    }

    @Test
    void S14_anEmptyListOfEndpointsIsRefused() {
        assertThatThrownBy(() -> EtcdOptions.connectTo(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "a b", "a%", "ä", "a\n"})
    void S14_badNamespacesAreRefused(String namespace) {
        assertThatThrownBy(() -> options.namespace(namespace))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 256");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT0.999S", "PT1H0.001S", "-PT5S"})
    void S14_badLeaseDurationsAreRefused(String lease) {
        assertThatThrownBy(() -> options.leaseDuration(Duration.parse(lease)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Duration.parse(lease).toString())
                .hasMessageContaining("PT1S")
                .hasMessageContaining("PT1H");
    }

    @Test
    void S14_emptyCredentialsAreRefused() {
        assertThatThrownBy(() -> options.credentials("", "x")).hasMessageContaining("user");
        assertThatThrownBy(() -> options.credentials("x", "")).hasMessageContaining("password");
    }

    @Test
    void S19_passwordsAreNotPrinted() {
        EtcdOptions all = EtcdOptions.connectTo(List.of("h1:1", "[::1]:2"))
                .namespace("")
                .leaseDuration(Duration.ofSeconds(3))
                .credentials("lena", "pssst");
        assertThat(all).hasToString("etcd://h1:1,[::1]:2 namespace \"\"");
        assertThat(options.settings().credentials())
                .as("the copy alone has them")
                .isEmpty();
    }

    @Test
    void S14_settingsOfAnApplicationSuppliedClientAreRefused() throws Exception {
        try (Client client = Client.builder().endpoints("http://h:2379").build()) {
            EtcdOptions supplied = EtcdOptions.using(client);
            assertThatThrownBy(() -> supplied.credentials("lena", "pssst"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("credentials")
                    .hasMessageNotContaining("pssst");
            SslContext tls = GrpcSslContexts.forClient().build();
            assertThatThrownBy(() -> supplied.tls(tls))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("tls");
            assertThat(supplied.settings().exposureCheck()).isEmpty();
        }
    }

    @Test
    void S19_missingProtectionIsReported() throws Exception {
        SslContext tls = GrpcSslContexts.forClient().build();
        assertThat(findings(options)).contains("open to everyone");
        assertThat(findings(options.credentials("lena", "pssst")))
                .contains("without TLS")
                .doesNotContain("pssst", "open to everyone");
        assertThat(findings(options.credentials("lena", "pssst").tls(tls))).isEqualTo("[]");
    }

    private static String findings(EtcdOptions options) {
        return options.settings().exposureCheck().orElseThrow().findings().toString();
    }

    @Test
    void endpointsAreConvertedToTheTargetFormOfJetcd() {
        URI target = URI.create(EtcdClientFactory.target(List.of("h:1", "[::1]:2", "a_b:3")));
        assertThat(target.getScheme()).isEqualTo("ip");
        assertThat(target.getAuthority()).isNull();
        assertThat(target.getPath()).isEqualTo("/h:1,[::1]:2,a_b:3");
    }
}
