// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests the limits of the options, and that options are immutable and show no secrets. */
class RedisOptionsTest {
    private final RedisOptions options = RedisOptions.connectTo(RedisURI.create("redis://ann:s3cr3t@h:7000/2"));

    private static void assertRefused(ThrowingCallable call, String... parts) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(parts);
    }

    @Test
    void S14_violatedLimitsAreNamed() {
        assertRefused(() -> options.leaseDuration(Duration.ofMillis(999)), "PT0.999S", "PT1S", "PT1H");
        assertRefused(() -> options.leaseDuration(Duration.ofSeconds(3601)), "PT1H1S", "PT1S", "PT1H");
        assertRefused(() -> options.prefix(""), "prefix is \"\"", "1 to 256");
        assertRefused(() -> options.prefix("a b"), "prefix is \"a b\"", "without spaces");
        assertRefused(() -> options.prefix("{tag}"), "braces");
        assertRefused(() -> options.prefix("lock:%queue:"), "percent");
        assertRefused(() -> options.prefix("ä"), "ASCII");
        assertRefused(() -> options.prefix("x".repeat(257)), "1 to 256");
        assertRefused(
                () -> RedisOptions.connectTo(
                        RedisURI.builder().withSentinel("h").build()),
                "sentinels",
                "no master");
        assertRefused(() -> options.waitReplicas(-1), "waitReplicas is -1", "from 0 to 100");
        assertRefused(() -> options.waitReplicas(101), "waitReplicas is 101", "from 0 to 100");
        assertRefused(() -> RedisOptions.connectToCluster(List.of()), "one node");
        assertRefused(() -> RedisOptions.connectToCluster(List.of(RedisURI.create("redis://h/1"))), "database 0");
    }

    @Test
    void sentinelsAndNodesAreShown() {
        RedisURI sentinels = RedisURI.create("redis-sentinel://:secret@s1,s2:26380/3#m");
        assertThat(RedisOptions.connectTo(sentinels))
                .hasToString("redis-sentinel://s1:26379,s2:26380/3?master=m prefix lock:");
        List<RedisURI> nodes = List.of(RedisURI.create("redis://:secret@n1:7001"), RedisURI.create("n2", 7002));
        assertThat(RedisOptions.connectToCluster(nodes)).hasToString("redis-cluster://n1:7001,n2:7002 prefix lock:");
    }

    @Test
    void bothEndsOfTheLimitsAreAllowed() {
        assertThat(options.leaseDuration(Duration.ofSeconds(1)).leaseDuration()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.leaseDuration(Duration.ofHours(1)).leaseDuration()).isEqualTo(Duration.ofHours(1));
        assertThat(options.prefix("x".repeat(256)).prefix()).hasSize(256);
    }

    @Test
    void S19_optionsAreImmutableAndShowNoSecrets() {
        RedisOptions changed = options.prefix("app:").leaseDuration(Duration.ofSeconds(5));
        assertThat(options.prefix()).isEqualTo("lock:");
        assertThat(options.leaseDuration()).isEqualTo(RedisOptions.DEFAULT_LEASE);
        assertThat(changed).hasToString("redis://h:7000/2 prefix app:");
    }
}
