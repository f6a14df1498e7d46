// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that {@link RedlockProvider} parses Redlock URLs and rejects invalid ones. */
class RedlockProviderTest {
    private static RedlockOptions options(String url) {
        return RedlockProvider.options(LockUrl.parse(url));
    }

    @Test
    void defaultLeaseIsNotAboveMaxLease() {
        RedlockOptions options = RedlockProvider.options(LockUrl.parse("redlock://a,b,c?maxLease=20s"));
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(20));
        assertThatThrownBy(() -> RedlockProvider.options(LockUrl.parse("redlock://a,b,c?maxLease=20s&lease=21s")))
                .hasMessageContaining("leaseDuration is PT21S, must be at most PT20S");
        assertThat(RedlockProvider.options(LockUrl.parse("redlock://a,b,c?maxLease=60s"))
                        .leaseDuration())
                .isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void providerIsFoundByItsSchemes() {
        assertThat(Locks.providers())
                .contains(
                        new Locks.ProviderInfo("redlock", RedlockProvider.class.getName()),
                        new Locks.ProviderInfo("redlocks", RedlockProvider.class.getName()));
    }

    @Test
    void defaults() {
        RedlockOptions options = options("redlock://a,b:7000,[::1]");
        assertThat(options.uris())
                .extracting(uri -> uri.getHost() + " " + uri.getPort())
                .containsExactly("a 6379", "b 7000", "::1 6379");
        assertThat(options.uris()).allMatch(uri -> !uri.isSsl() && uri.getDatabase() == 0);
        assertThat(options.prefix()).isEqualTo("lock:");
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.maxLease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.isTestOnlyNewMasters()).isFalse();
    }

    @Test
    void urlPartsApplyToAllMasters() {
        RedlockOptions options = options(
                "redlocks://ann:s3c%2Fr3t@a,b,c/5?prefix=app:&lease=5s&maxLease=40s&nodeTimeout=50ms&verifyPeer=ca");
        assertThat(options.uris()).hasSize(3).allSatisfy(uri -> {
            assertThat(uri.isSsl()).isTrue();
            assertThat(uri.getVerifyMode()).isEqualTo(io.lettuce.core.SslVerifyMode.CA);
            assertThat(uri.getDatabase()).isEqualTo(5);
            RedisCredentials credentials =
                    uri.getCredentialsProvider().resolveCredentials().block();
            assertThat(credentials).isNotNull().satisfies(parsed -> {
                assertThat(parsed.getUsername()).isEqualTo("ann");
                assertThat(new String(parsed.getPassword())).isEqualTo("s3c/r3t");
            });
        });
        assertThat(options.prefix()).isEqualTo("app:");
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(5));
        assertThat(options.maxLease()).isEqualTo(Duration.ofSeconds(40));
        assertThat(options("redlock://a,b,c?testOnlyNewMasters=true").isTestOnlyNewMasters())
                .isTrue();
        assertThat(options("redlock://a,b,c?testOnlyNewMasters=false").isTestOnlyNewMasters())
                .isFalse();
        assertThat(options("redlock://a,b,c?db=7").uris())
                .extracting(RedisURI::getDatabase)
                .containsOnly(7);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redlock:///0 host",
                "redlock://a masters",
                "redlock://a,b masters",
                "redlock://a,b,a twice",
                "redlock://a,b,A:6379 twice",
                "redlock://a,b,c/x database",
                "redlock://a,b,c/1?db=1 database",
                "redlock://a,b,c?db=-1 db",
                "redlock://ann@a,b,c password",
                "redlock://a,b,c?prefix= prefix",
                "redlock://a,b,c?prefix=a{b} prefix",
                "redlock://a,b,c?lease=500ms leaseDuration",
                "redlock://a,b,c?lease=2h leaseDuration",
                "redlock://a,b,c?lease=31s maxLease",
                "redlock://a,b,c?maxLease=29s&lease=30s maxLease",
                "redlock://a,b,c?maxLease=2h maxLease",
                "redlock://a,b,c?testOnlyNewMasters=yes testOnlyNewMasters",
                "redlock://a,b,c?nodeTimeout=1ms nodeTimeout",
                "redlock://a,b,c?nodeTimeout=soon nodeTimeout",
                "redlock://a,b,c?verifyPeer=none redlocks",
                "redlocks://a,b,c?verifyPeer=maybe verifyPeer",
                "redlocks://a,b,c?trustedCertificates=/no/such/file trustedCertificates"
            })
    void S14_invalidUrlIsRejectedByName(String url, String part) {
        assertThatThrownBy(() -> Locks.connect(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(part);
    }

    @Test
    void S14_unknownParametersAreRejected() {
        assertThatThrownBy(() -> Locks.connect("redlock://a,b,c?timeout=5s"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("timeout");
    }

    @Test
    void S19_errorContainsNoPassword() {
        assertThatThrownBy(() -> Locks.connect("redlock://ann:s3cr3t@a,b"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageNotContaining("s3cr3t");
    }

    @Test
    void S19_accessRisksAreReported() {
        assertThat(access("redlock://h1,h2,h3")).contains("open to everyone");
        assertThat(access("redlock://:s3cret@h1,h2,h3")).contains("without TLS").doesNotContain("s3cret");
        assertThat(access("redlocks://:s3cret@h1,h2,h3?verifyPeer=none")).contains("not verified");
    }

    @Test
    void S19_accessRiskOfOneMasterIsReported() {
        assertThat(access("rediss://:s3cret@h1", "rediss://:s3cret@h2", "redis://:s3cret@h3"))
                .contains("without TLS")
                .doesNotContain("open to");
        assertThat(access("rediss://:s3cret@h1", "rediss://:s3cret@h2", "rediss://h3"))
                .contains("open to everyone");
    }

    private static String access(String... masters) {
        List<RedisURI> uris = Stream.of(masters).map(RedisURI::create).toList();
        return findings(RedlockOptions.connectTo(uris));
    }

    private static String access(String url) {
        return findings(options(url));
    }

    private static String findings(RedlockOptions options) {
        return options.exposureCheck().orElseThrow().findings().toString();
    }
}
