// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Limits of the options. */
class RedisOptionsTest {
    private final RedisOptions options = RedisOptions.connectTo(RedisURI.create("redis://ann:s3cr3t@h:7000/2"));

    private static void refused(ThrowingCallable call, String... parts) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(parts);
    }

    @Test
    void S14_limitsAreNamed() {
        refused(() -> options.leaseDuration(Duration.ofMillis(999)), "PT0.999S", "PT1S", "PT1H");
        refused(() -> options.leaseDuration(Duration.ofSeconds(3601)), "PT1H1S", "PT1S", "PT1H");
        refused(() -> options.prefix(""), "prefix is \"\"", "1 to 256");
        refused(() -> options.prefix("a b"), "prefix is \"a b\"", "without spaces");
        refused(() -> options.prefix("{tag}"), "braces");
        refused(() -> options.prefix("ä"), "ASCII");
        refused(() -> options.prefix("x".repeat(257)), "1 to 256");
        refused(() -> RedisOptions.connectTo(RedisURI.create("redis-sentinel://h:26379#m")), "sentinels");
    }

    @Test
    void bothEndsOfTheLimitsAreAllowed() {
        assertThat(options.leaseDuration(Duration.ofSeconds(1)).leaseDuration()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.leaseDuration(Duration.ofHours(1)).leaseDuration()).isEqualTo(Duration.ofHours(1));
        assertThat(options.prefix("x".repeat(256)).prefix()).hasSize(256);
    }

    @Test
    void S19_eachMethodLeavesTheOldOneAsItWasAndNoneTellsSecrets() {
        RedisOptions changed = options.prefix("app:").leaseDuration(Duration.ofSeconds(5));
        assertThat(options.prefix()).isEqualTo("lock:");
        assertThat(options.leaseDuration()).isEqualTo(RedisOptions.DEFAULT_LEASE);
        assertThat(changed).hasToString("redis://h:7000/2 prefix app:");
    }
}
