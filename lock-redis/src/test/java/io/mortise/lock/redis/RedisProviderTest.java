// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how the parts of a URL are interpreted. */
class RedisProviderTest {
    private static RedisOptions options(String url) {
        return RedisProvider.options(LockUrl.parse(url));
    }

    private static RedisURI uri(String url) {
        return options(url).uri().orElseThrow();
    }

    @Test
    void isFoundByItsSchemes() {
        assertThat(Locks.providers()).contains(new Locks.ProviderInfo("redis", RedisProvider.class.getName()));
    }

    @Test
    void defaults() {
        RedisOptions options = options("redis://h");
        RedisURI uri = uri("redis://h");
        assertThat(uri.getHost()).isEqualTo("h");
        assertThat(uri.getPort()).isEqualTo(6379);
        assertThat(uri.getDatabase()).isZero();
        assertThat(uri.isSsl()).isFalse();
        assertThat(options.prefix()).isEqualTo("lock:");
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options).hasToString("redis://h:6379 prefix lock:");
    }

    @Test
    void everyPartOfAUrl() {
        RedisOptions options = options("rediss://ann:s3c%2Fr3t@[::1]:7000/5?prefix=app:&lease=5s&verifyPeer=ca");
        RedisURI uri = options.uri().orElseThrow();
        assertThat(uri.getHost()).isEqualTo("::1");
        assertThat(uri.getPort()).isEqualTo(7000);
        assertThat(uri.getDatabase()).isEqualTo(5);
        assertThat(uri.isSsl()).isTrue();
        assertThat(uri.getVerifyMode()).isEqualTo(io.lettuce.core.SslVerifyMode.CA);
        RedisCredentials credentials =
                uri.getCredentialsProvider().resolveCredentials().block();
        assertThat(credentials).isNotNull().satisfies(known -> {
            assertThat(known.getUsername()).isEqualTo("ann");
            assertThat(new String(known.getPassword())).isEqualTo("s3c/r3t");
        });
        assertThat(options.prefix()).isEqualTo("app:");
        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(5));
        assertThat(options).hasToString("rediss://::1:7000/5 prefix app:");
    }

    @Test
    void sentinels() {
        RedisOptions options = options("redis-sentinel://:secret@s1,[::1]:26380/3?master=main&waitReplicas=1");
        RedisURI uri = options.uri().orElseThrow();
        assertThat(uri.getSentinelMasterId()).isEqualTo("main");
        assertThat(uri.getSentinels())
                .extracting(sentinel -> sentinel.getHost() + " " + sentinel.getPort())
                .containsExactly("s1 26379", "::1 26380");
        assertThat(uri.getDatabase()).isEqualTo(3);
        assertThat(options.waitReplicas()).isEqualTo(1);
        assertThat(options.isCluster()).isFalse();
        assertThat(uri("rediss-sentinel://s1?master=main").getSentinels()).allMatch(RedisURI::isSsl);
        assertThat(options).hasToString("redis-sentinel://s1:26379,::1:26380/3?master=main prefix lock:");
    }

    @Test
    void aCluster() {
        RedisOptions options = options("rediss-cluster://:secret@n1,n2:7002?verifyPeer=none&lease=5s");
        assertThat(options.isCluster()).isTrue();
        assertThat(options.clusterUris())
                .hasSize(2)
                .allMatch(RedisURI::isSsl)
                .extracting(RedisURI::getPort)
                .containsExactly(6379, 7002);
        assertThat(options).hasToString("rediss-cluster://n1:6379,n2:7002 prefix lock:");
    }

    @Test
    void aSocket() {
        RedisURI uri = uri("redis-socket:///var/run/redis.sock?db=2");
        assertThat(uri.getSocket()).isEqualTo("/var/run/redis.sock");
        assertThat(uri.getDatabase()).isEqualTo(2);
        assertThat(options("redis-socket:///var/run/redis.sock?db=2"))
                .hasToString("redis-socket:///var/run/redis.sock?db=2 prefix lock:");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redis:///0 host",
                "redis://h1,h2 hosts",
                "redis://h?master=m redis-sentinel",
                "redis-sentinel://h master",
                "redis-cluster://h/1 database",
                "redis://h/x database",
                "redis://h/1?db=1 database",
                "redis://h?db=-1 db",
                "redis://ann@h password",
                "redis://h?prefix= prefix",
                "redis://h?prefix=a{b} prefix",
                "redis://h?prefix=a%20b prefix",
                "redis://h?lease=500ms leaseDuration",
                "redis://h?lease=2h leaseDuration",
                "redis://h?verifyPeer=none rediss",
                "rediss://h?verifyPeer=maybe verifyPeer",
                "rediss://h?trustedCertificates=/no/such/file trustedCertificates",
                "redis-socket:// socket"
            })
    void S14_invalidPartsAreRefusedByName(String url, String part) {
        assertThatThrownBy(() -> options(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(part);
    }

    @Test
    void S14_unknownParametersAreRefused() {
        assertThatThrownBy(() -> Locks.connect("redis://h?timeout=5s"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("timeout");
    }

    @Test
    void S19_exposureIsDerivedFromEachPartOfAUrl() {
        assertThat(access("redis://h")).contains("open to everyone");
        assertThat(access("redis://:s3cret@h")).contains("without TLS").doesNotContain("open to", "s3cret");
        assertThat(access("rediss://:s3cret@h?verifyPeer=none")).contains("not verified");
        assertThat(access("rediss://:s3cret@h")).isEqualTo("[]");
        assertThat(access("rediss://h")).contains("open to everyone");
        assertThat(access("redis-sentinel://:s3cret@h1,h2?master=m")).contains("without TLS");
        assertThat(access("redis-cluster://h1,h2")).contains("open to everyone");
        assertThat(access("redis://127.0.0.1")).contains("INFO", "on this machine");
        assertThat(options("redis-socket:///tmp/x").access()).isEmpty();
    }

    private static String access(String url) {
        return options(url).access().orElseThrow().findings().toString();
    }
}
