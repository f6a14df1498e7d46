// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.recipe.GroupLease;
import io.mortise.lock.recipe.LockGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/several-locks.md} shows code of this class, and that groups work across two stores. */
class SeveralLocksPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);

    private final LockClient locks = Locks.connect("memory:" + UUID.randomUUID());
    private final Map<String, Long> tokens = new HashMap<>();

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void thePageShowsCodeOfThisClass() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/mortise/lock/memory/SeveralLocksPageTest.java"));
        assertThat(BLOCK.matcher(Files.readString(Path.of("../docs/several-locks.md")))
                        .results()
                        .map(found -> found.group(1))
                        .toList())
                .hasSize(1)
                .allSatisfy(block -> assertThat(withoutSpace(source)).contains(withoutSpace(block)));
    }

    @Test
    void theCodeWorks() throws Exception {
        Lease held = locks.named("account/2").acquire();
        assertThat(transferWithLocks("2", "1", Duration.ZERO)).isFalse();
        held.close();
        assertThat(transferWithLocks("2", "1")).isTrue();
        assertThat(tokens).containsOnlyKeys("account/1", "account/2");
        assertThat(locks.named("account/1").status().join().holders()).isEmpty();
        locks.close();
    }

    private boolean transferWithLocks(String from, String to, Duration maxWait) throws InterruptedException {
        Optional<GroupLease> acquired = LockGroup.of(locks.named("account/" + from), locks.named("account/" + to))
                .tryAcquire(maxWait);
        acquired.ifPresent(GroupLease::close);
        return acquired.isPresent();
    }

    private boolean transferWithLocks(String from, String to) throws InterruptedException {
        LockGroup both = LockGroup.of(locks.named("account/" + from), locks.named("account/" + to));
        Optional<GroupLease> acquired = both.tryAcquire(Duration.ofSeconds(5)); // for both together
        if (acquired.isEmpty()) {
            return false; // none of them is held
        }
        try (GroupLease leases = acquired.get()) {
            transfer(from, to, leases.fencingTokens()); // by the name of the lock
            leases.ensureHeld();
        }
        return true;
    }

    private void transfer(String from, String to, Map<String, Long> byName) {
        assertThat(from).isNotEqualTo(to);
        tokens.putAll(byName);
    }

    @Test
    void aGroupOfTwoStoresIsRolledBackAsAWhole() throws Exception {
        try (LockClient other = Locks.connect("memory:" + UUID.randomUUID())) {
            Lease busy = other.named("stock/42").acquire();
            LockGroup group = LockGroup.of(other.named("stock/42"), locks.named("orders/42"));
            assertThat(group.tryAcquire(Duration.ZERO)).isEmpty();
            assertThat(locks.named("orders/42").tryAcquire(Duration.ofSeconds(30)))
                    .hasValueSatisfying(Lease::close);
            busy.close();
            GroupLease leases = group.acquireAsync().join();
            assertThat(leases.fencingTokens()).containsOnlyKeys("orders/42", "stock/42");
            other.close();
            assertThat(leases.isHeld()).isFalse();
            assertThat(leases.lost().join().lockName()).isEqualTo("stock/42");
            leases.close();
            assertThat(locks.named("orders/42").status().join().holders()).isEmpty();
        }
        locks.close();
    }
}
