// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.mortise.lock.spi.LockUrl;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EtcdProviderTest {
    private static EtcdSettings options(String url) {
        return EtcdProvider.options(LockUrl.parse(url)).settings();
    }

    @Test
    void theProviderIsFoundByItsSchemes() {
        assertThat(Locks.providers())
                .contains(
                        new Locks.ProviderInfo("etcd", EtcdProvider.class.getName()),
                        new Locks.ProviderInfo("etcds", EtcdProvider.class.getName()));
    }

    @Test
    void defaults() {
        EtcdSettings options = options("etcd://h");
        assertThat(options.endpointList()).containsExactly("h:2379");
        assertThat(options.namespace()).isEqualTo("mortise/");
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(15));
        assertThat(options.credentials()).isEmpty();
        assertThat(options.tls()).isEmpty();
    }

    @Test
    void allPartsOfAUrlAreRead() {
        EtcdSettings options = options("etcds://lena:a%40b@h1:1,[::1]:2/?namespace=&lease=4s");
        assertThat(options.endpointList()).containsExactly("h1:1", "[::1]:2");
        assertThat(options.namespace()).isEmpty();
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(4));
        assertThat(options.credentials().orElseThrow().user()).isEqualTo("lena");
        assertThat(options.credentials().orElseThrow().password()).isEqualTo("a@b");
        assertThat(options.tls()).isPresent();
    }

    @ParameterizedTest
    @CsvSource({
        "etcd://h/path, path",
        "etcd://lena@h, password",
        "etcd://:secret@h, user",
        "etcd://h?lease=1ms, PT1S",
        "etcd://h?namespace=%25, percent",
        "etcd://h?ca=/etc/hosts, etcds",
        "etcds://h?ca=/no/such/file, ca",
        "etcds://h?ca=/etc/hosts, ca",
        "etcds://h?cert=/etc/hosts, key",
        "etcds://h?key=/etc/hosts, cert",
        "etcd:h, host",
    })
    void S14_invalidPartsOfAUrlAreNamedInTheRefusal(String url, String part) {
        assertThatThrownBy(() -> Locks.connect(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(part)
                .hasMessageNotContaining("secret");
    }

    @Test
    void S14_unknownParametersAreRefused() {
        assertThatThrownBy(() -> Locks.connect("etcd://h?leas=4s"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("leas");
    }
}
