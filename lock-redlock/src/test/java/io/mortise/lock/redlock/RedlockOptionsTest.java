// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.mortise.lock.redlock.vote.Quorum;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests that {@link RedlockOptions} rejects invalid values and prints no secrets. */
class RedlockOptionsTest {
    private static List<RedisURI> uris(String... uris) {
        return Stream.of(uris).map(RedisURI::create).toList();
    }

    private final RedlockOptions options =
            RedlockOptions.connectTo(uris("redis://ann:s3cr3t@a", "redis://:s3cr3t@b:7000", "redis://c"));

    private static void assertRejected(ThrowingCallable call, String... parts) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(parts)
                .hasMessageNotContaining("s3cr3t");
    }

    @Test
    void S14_errorNamesTheLimit() {
        assertRejected(() -> options.leaseDuration(Duration.ofMillis(999)), "PT0.999S", "PT1S", "PT1H");
        assertRejected(() -> options.leaseDuration(Duration.ofSeconds(3601)), "PT1H1S", "PT1S", "PT1H");
        assertRejected(() -> options.nodeTimeout(Duration.ofMillis(9)), "nodeTimeout is PT0.009S", "PT0.01S");
        assertRejected(() -> options.prefix(""), "prefix is \"\"", "1 to 256");
        assertRejected(() -> options.prefix("a b"), "prefix is \"a b\"", "without spaces");
        assertRejected(() -> options.prefix("%x"), "percent");
    }

    @Test
    void S14_leaseAboveMaxLeaseIsRejected() {
        assertRejected(() -> options.maxLease(Duration.ofMillis(999)), "maxLease is PT0.999S", "PT1S", "PT1H");
        assertRejected(() -> options.maxLease(Duration.ofSeconds(3601)), "maxLease is PT1H1S", "PT1H");
        assertRejected(() -> options.maxLease(Duration.ofNanos(1_000_000_001)), "maxLease", "milliseconds");
        RedlockOptions minute = options.maxLease(Duration.ofMinutes(1)).leaseDuration(Duration.ofMinutes(1));
        minute.check();
        assertThatThrownBy(minute.maxLease(Duration.ofSeconds(59))::check)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "leaseDuration is PT1M, must be at most PT59S, the maxLease of this client: for longer leases set"
                                + " maxLease to PT1M or more, for all clients with these masters");
        assertThatThrownBy(() -> RedlockLocks.connect(options.leaseDuration(Duration.ofSeconds(31))))
                .as("rejected before anything is sent")
                .hasMessageContainingAll("PT31S", "PT30S");
    }

    @Test
    void S14_leaseBelowFourNodeTimeoutsIsRejected() {
        options.checkLease(Duration.ofSeconds(2), Duration.ofMillis(500));
        assertThatThrownBy(() -> options.checkLease(Duration.ofMillis(1_999), Duration.ofMillis(500)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "leaseDuration is PT1.999S, must be at least PT2S, four times nodeTimeout: for shorter leases set"
                                + " nodeTimeout to PT0.49975S or less");
    }

    @Test
    void S14_evenNumberOfMastersWorks() {
        assertThat(RedlockOptions.connectTo(uris("redis://a", "redis://b", "redis://c", "redis://d"))
                        .masterCount())
                .isEqualTo(4);
        assertThat(new Quorum(4).maxFailures()).isEqualTo(new Quorum(3).maxFailures());
    }

    @Test
    void S14_fewerThanThreeMastersAreRejected() {
        assertRejected(() -> RedlockOptions.connectTo(List.of()), "at least 3 masters, not 0");
        assertRejected(
                () -> RedlockOptions.connectTo(uris("redis://:s3cr3t@a", "redis://b")), "at least 3 masters, not 2");
        assertRejected(() -> RedlockOptions.using(List.of()), "at least 3 masters, not 0");
    }

    @Test
    void S14_sameServerTwiceIsRejectedWhateverItsUri() {
        for (String duplicate : List.of(
                "redis://a", "redis://a:6379", "redis://A", "redis://a/5", "redis://ann:s3cr3t@a", "rediss://a:6379")) {
            assertRejected(
                    () -> RedlockOptions.connectTo(uris("redis://:s3cr3t@a", "redis://b", duplicate)),
                    "twice",
                    "two votes");
        }
        assertRejected(
                () -> RedlockOptions.connectTo(
                        uris("redis-socket:///tmp/r.sock", "redis://b", "redis-socket:///tmp/r.sock?database=1")),
                "twice",
                "/tmp/r.sock");
        assertThat(RedlockOptions.connectTo(uris("redis://a", "redis://a:6380", "redis://a:6381"))
                        .masterCount())
                .as("each port is another server")
                .isEqualTo(3);
        RedisClient client = RedisClient.create("redis://a");
        try (RedisClient other = RedisClient.create("redis://b")) {
            assertRejected(() -> RedlockOptions.using(List.of(client, other, client)), "twice", "two votes");
        } finally {
            client.shutdown();
        }
    }

    @Test
    void S14_sentinelUriIsRejected() {
        List<RedisURI> masters = new ArrayList<>(uris("redis://a", "redis://b"));
        masters.add(RedisURI.Builder.sentinel("s", "m").build());
        assertRejected(() -> RedlockOptions.connectTo(masters), "host and port");
    }

    @Test
    void S19_optionsAreImmutableAndPrintNoSecrets() {
        RedlockOptions changed = options.prefix("app:").leaseDuration(Duration.ofSeconds(5));
        assertThat(options.prefix()).isEqualTo("lock:");
        assertThat(options.leaseDuration()).isEqualTo(RedlockOptions.DEFAULT_LEASE);
        assertThat(changed.prefix()).isEqualTo("app:");
        assertThat(changed.leaseDuration()).isEqualTo(Duration.ofSeconds(5));
        assertThat(changed).hasToString("redlock://a:6379,b:7000,c:6379");
    }

    @Test
    void S19_differentMastersAreNamedSeparately() {
        assertThat(RedlockOptions.connectTo(
                        uris("rediss://:s3cr3t@a", "redis://:s3cr3t@b/5", "redis-socket:///tmp/r.sock")))
                .hasToString("redlock of rediss://a:6379,redis://b:6379/5,redis-socket:///tmp/r.sock");
        assertThat(RedlockOptions.connectTo(uris("rediss://a", "rediss://b", "rediss://c")))
                .hasToString("redlocks://a:6379,b:6379,c:6379");
    }
}
