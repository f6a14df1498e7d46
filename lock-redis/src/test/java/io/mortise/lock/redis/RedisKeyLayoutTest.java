// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockName;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RedisKeyLayoutTest {
    private final RedisKeyLayout keys = new RedisKeyLayout("lock:");

    @Test
    void S13_plainNamesStayReadable() {
        RedisKeyLayout.OfLock plain = keys.of(new LockName("inventory:42"));
        assertThat(plain.all())
                .containsExactly(
                        "lock:inventory:42", "lock:%token", "lock:%queue:inventory:42", "lock:%waiters:inventory:42");
        assertThat(keys.of(new LockName("a/b {c}")).grant()).isEqualTo("lock:a%2Fb%20%7Bc%7D");
    }

    @Test
    void S13_noNameCollidesWithAnotherOrWithAnInternalKey() {
        List<String> hostile = List.of(
                "x",
                "%token",
                "%queue:x",
                "%waiters:x",
                "queue:x",
                "%mortise-client:1",
                "%25token",
                "lock:x",
                "%",
                "X",
                "x%00");
        Set<String> seen = new HashSet<>();
        for (String name : hostile) {
            RedisKeyLayout.OfLock of = keys.of(new LockName(name));
            assertThat(seen.add(of.grant())).as(name).isTrue();
            assertThat(seen.add(of.queue())).as(name).isTrue();
            assertThat(seen.add(of.entries())).as(name).isTrue();
            assertThat(keys.lockName(of.grant())).contains(name);
            assertThat(keys.lockName(of.queue())).isEmpty();
            assertThat(keys.lockName(of.entries())).isEmpty();
            assertThat(seen).doesNotContain(of.counter(), keys.channel("1"));
        }
        assertThat(keys.lockName("lock:%token")).isEmpty();
    }

    @Test
    void S13_inAClusterAllKeysOfALockHaveTheSameHashTag() {
        RedisKeyLayout clustered = RedisKeyLayout.clustered("lock:");
        Set<Integer> slots = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            RedisKeyLayout.OfLock of = clustered.of(new LockName("n" + i));
            String tag = of.grant().substring(5, 10);
            assertThat(tag).matches("\\{b\\d\\d}");
            assertThat(of.all())
                    .containsExactly(
                            "lock:" + tag + "n" + i,
                            "lock:" + tag + "%token",
                            "lock:" + tag + "%queue:n" + i,
                            "lock:" + tag + "%waiters:n" + i);
            assertThat(clustered.shardChannel(of, "1")).isEqualTo("lock:" + tag + "%mortise-client:1");
            assertThat(clustered.lockName(of.grant())).contains("n" + i);
            assertThat(keys.lockName(of.grant())).isEmpty();
            slots.add(of.slot());
        }
        assertThat(slots).hasSize(RedisKeyLayout.BUCKETS);
        assertThat(clustered.lockName("lock:n1")).isEmpty();
        assertThat(clustered.lockName("lock:{b99}n1")).as("not its bucket").isEmpty();
    }

    @Test
    void keysOfOtherApplicationsAreNoLocks() {
        assertThat(keys.lockName("lock:with space")).isEmpty();
        assertThat(keys.lockName("lock:%2f"))
                .as("not escaped the way Mortise does")
                .isEmpty();
        assertThat(keys.lockName("lock:")).isEmpty();
        assertThat(keys.lockName("other:x")).isEmpty();
    }

    @Test
    void thePatternMatchesThePrefixLiterally() {
        assertThat(new RedisKeyLayout("a*b?[c]\\:").pattern()).isEqualTo("a\\*b\\?\\[c\\]\\\\:*");
        assertThat(keys.pattern()).isEqualTo("lock:*");
    }
}
