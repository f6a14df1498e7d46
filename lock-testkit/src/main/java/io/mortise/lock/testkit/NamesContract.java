// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.ReleaseOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that different names denote different locks, that invalid arguments are rejected, and that line breaks in names are
 * escaped in messages. Rules S13, S14, S19.
 */
interface NamesContract extends Contract {
    /** Valid names that a store may treat specially; each must be a separate lock. */
    List<String> UNUSUAL_NAMES = List.of(
            "plain",
            "Plain", // case
            "a/b",
            "a",
            "a/",
            "/a",
            "a//b",
            "a%2Fb", // a possible stored form of "a/b"
            "a%2fb",
            "a%252Fb",
            "%",
            "%25",
            "/",
            ".",
            "..",
            "a/..",
            "a/.",
            "/..",
            " ",
            "  ",
            " a",
            "a ",
            "a b",
            "a+b",
            "\t",
            "\n",
            "a\r\nb",
            "\u0000",
            "a\u0000b",
            "\u007f",
            "\u0085",
            "\u00e9", // é in one code point
            "e\u0301", // é in two code points
            "\u212b", // the Ångström sign, which NFC normalizes to
            "\u00c5", // this character
            "\uFB01", // a ligature
            "\ufeff",
            "\u202e",
            "\uffff",
            "\uD83D\uDE00", // an emoji
            "日本語",
            "x".repeat(512),
            "x".repeat(511),
            "x".repeat(511) + "y",
            "\uD83D\uDE00".repeat(128), // 512 bytes
            "zookeeper",
            "/zookeeper",
            "zookeeper/quota",
            "lock-0000000000",
            "lock-0000000001",
            "_c_00000000-0000-0000-0000-000000000000-lock-0000000000",
            "locks",
            "mortise",
            "mortise:fence",
            "fence",
            "withdrawn",
            "{a}",
            "{a}b",
            "*",
            "?",
            "[a]",
            "a:b",
            "a|b",
            "a\\b",
            "\"a\"",
            "'a'",
            "-",
            "_",
            "0",
            "null",
            "a.",
            "a..",
            ".a",
            "a%20b",
            "%20",
            "a_",
            "a_b",
            "__",
            "Aa", // these two have the same hash code in Java
            "BB",
            "plumless", // these two have the same CRC-32
            "buckeroo",
            "ab", // these two have the same Adler-32 and the same sum of characters as "ba"
            "ba",
            "\uD83D\uDE00\uD83D\uDE01", // several characters beyond the basic plane
            "\uD83D\uDE01\uD83D\uDE00",
            "\uD83D\uDE00a\uD83D\uDE00",
            "x".repeat(255), // limits of file names, paths and keys of some stores
            "x".repeat(256),
            "x".repeat(510) + "yx",
            "/".repeat(511) + "1", // these two take the most space in a key, and differ at its end
            "/".repeat(511) + "2",
            "long common prefix/".repeat(10) + "1",
            "long common prefix/".repeat(10) + "2",
            "a:waiters", // what a backend could append to the key of lock "a", or put before it
            "a:queue",
            "a:token",
            "a/token",
            "a.lock",
            "a#1",
            "waiters:a",
            "%waiters:a",
            "lock:a",
            "{a}:token",
            "%redlock",
            "counter",
            "tokens");

    /** Characters that end a line, hide text or move the cursor, or a quote that is not escaped. */
    Pattern UNSAFE = Pattern.compile("[\\p{Cntrl}\\u0085\\u2028\\u2029\\u202e]|forged lock=\"");

    @Test
    default void S13_distinctNamesNeverCollide() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        List<Lease> held = new ArrayList<>();
        for (String name : UNUSUAL_NAMES) {
            Optional<Lease> lease = one.named(name).tryAcquire();
            if (lease.isEmpty()) {
                throw new AssertionError("S13: %s cannot be acquired while %s is held"
                        .formatted(described(name), collidingName(one, held, name)));
            }
            held.add(lease.orElseThrow());
        }
        for (int i = 0; i < held.size(); i++) {
            Lease lease = held.get(i);
            assertThat(lease.lockName()).isEqualTo(UNUSUAL_NAMES.get(i));
            assertThat(lease.isHeld()).as(printable(lease.lockName())).isTrue();
            assertThat(two.named(lease.lockName()).tryAcquire())
                    .as("lock %s for another client", printable(lease.lockName()))
                    .isEmpty();
        }
        held.forEach(Lease::close);
        try (Lease again = two.named(UNUSUAL_NAMES.get(0)).acquire()) {
            assertThat(again.isHeld()).isTrue();
        }
    }

    /** Waiters, releases and removals belong to one name, also where a store or client looks for it by a hash or a prefix. */
    @ParameterizedTest
    @CsvSource({"Aa, BB", "plumless, buckeroo", "a, a/", "a, a.", "'a b', a%20b", "ab, ba", "x, xx", "a, A"})
    default void S13_similarNamesAreWaitedForAndReleasedSeparately(String name, String similar) throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named(name).acquire();
        Lease heldToo = holder.named(similar).acquire();
        CompletableFuture<Lease> waiting = waiter.named(name).acquireAsync();
        CompletableFuture<Lease> waitingToo = waiter.named(similar).acquireAsync();
        CompletableFuture<Lease> cancelled = waiter.named(name).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, name, 1);
        ContractTestFixture.awaitWaiters(holder, similar, 1);
        cancelled.cancel(true);
        assertThat(heldToo.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = ApiStyle.result(waitingToo);
        assertThat(next.lockName()).isEqualTo(similar);
        assertThat(waiting)
                .as("the waiter for lock \"%s\", which is held", name)
                .isNotDone();
        assertThat(held.isHeld()).isTrue();
        assertThat(holder.named(similar).tryAcquire()).isEmpty();
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiter.named(name).tryAcquire()).isEmpty();
        assertThat(waiting).isNotDone();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(holder, name);
        fixture().assertFree(holder, similar);
    }

    @Test
    default void S13_operatorsSeeTheNamesAsTheyWereGiven() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractTestFixture.admin(client, "S13");
        List<Lease> held = new ArrayList<>();
        for (String name : UNUSUAL_NAMES) {
            held.add(client.named(name).tryAcquire().orElseThrow());
        }
        assertThat(ContractTestFixture.await(admin.list("", 1000, "")).locks())
                .extracting(LockStatus::name)
                .containsExactlyInAnyOrderElementsOf(UNUSUAL_NAMES);
        assertThat(ContractTestFixture.status(admin, "a/b").name()).isEqualTo("a/b");
        held.forEach(Lease::close);
    }

    /** A client that chooses a lock name must not be able to forge log lines of other clients with it. */
    @Test
    default void S19_messagesAboutALockAreOneLineWhateverItsName() throws Exception {
        LockClient client = fixture().client();
        LockClient closed = fixture().client();
        String name = "x\r\nevent=forged lock=\"y\" \u0085\u2028\u202e\u001b[2J";
        Lease lease = client.named(name, fixture().shortLease(client)).acquire();
        CompletableFuture<Lease> waiting = closed.named(name).acquireAsync();
        ContractTestFixture.awaitWaiters(client, name, 1);
        closed.close();
        List<String> messages =
                new ArrayList<>(List.of(lease.toString(), client.named(name).toString()));
        messages.add(String.valueOf(catchThrowable(() -> ApiStyle.result(waiting))));
        messages.add(String.valueOf(catchThrowable(closed.named(name)::acquire)));
        if (client.admin().isPresent()) {
            LockAdmin admin = client.admin().orElseThrow();
            ContractTestFixture.await(admin.forceRelease(
                    name, ContractTestFixture.status(admin, name).holders().get(0)));
            messages.add(ContractTestFixture.await(lease.lost()).toString());
            messages.add(String.valueOf(catchThrowable(lease::ensureHeld)));
        }
        assertThat(messages)
                .as("S19: on one line")
                .noneMatch(text -> UNSAFE.matcher(text).find());
    }

    @Test
    default void S14_badNamesAreRefused() throws Exception {
        LockClient client = fixture().client();
        assertRefused(() -> client.named(""), "empty", "512");
        assertRefused(() -> client.named("x".repeat(513)), "513", "512");
        assertRefused(() -> client.named("\uD83D\uDE00".repeat(128) + "x"), "513", "512");
        assertRefused(() -> client.named("a\uD83D"), "surrogate");
        assertRefused(() -> client.named("\uDE00a"), "surrogate");
        if (client.admin().isPresent()) {
            LockAdmin admin = client.admin().orElseThrow();
            assertRefused(() -> admin.status(""), "empty", "512");
            assertRefused(() -> admin.list("", 0, ""), "0", "10000");
            assertRefused(() -> admin.list("", 10_001, ""), "10001", "10000");
            assertRefused(() -> admin.list("x".repeat(513), 1, ""), "prefix", "513", "512");
        }
    }

    @Test
    default void S14_badDurationsAreRefused() throws Exception {
        LockClient client = fixture().client();
        DistributedLock lock = client.named("x");
        Duration negative = Duration.ofMillis(-1);
        assertRefused(() -> lock.tryAcquire(negative), "PT-0.001S", "zero");
        assertRefused(() -> lock.tryAcquireAsync(negative), "PT-0.001S", "zero");
        assertRefused(() -> lock.tryRun(negative, lease -> {}), "PT-0.001S", "zero");
        LockOptions defaults = LockOptions.defaults();
        assertRefused(() -> defaults.leaseDuration(Duration.ofMillis(999)), "PT0.999S", "PT1S", "PT1H");
        assertRefused(() -> defaults.leaseDuration(Duration.ofHours(1).plusNanos(1)), "PT1H0.000000001S", "PT1H");
        assertRefused(() -> defaults.maxHold(Duration.ZERO), "PT0S", "zero");
        try (Lease lease = lock.acquire()) {
            assertRefused(() -> lease.onExpiring(Duration.ZERO, () -> {}), "PT0S", "zero");
        }
    }

    @Test
    default void S14_tooMuchMetadataIsRefused() {
        assertRefused(() -> LockOptions.defaults().metadata(Map.of("k", "x".repeat(1025))), "1024");
    }

    private static void assertRefused(ThrowingCallable call, String... words) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(words);
    }

    /** Releases the held names one after the other until the name can be acquired. */
    private static String collidingName(LockClient client, List<Lease> held, String name) throws InterruptedException {
        for (int i = held.size() - 1; i >= 0; i--) {
            held.get(i).release();
            if (client.named(name).tryAcquire().isPresent()) {
                return described(held.get(i).lockName());
            }
        }
        return "no other name";
    }

    private static String described(String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        return "\"" + printable(name) + "\" (" + bytes + (bytes == 1 ? " byte)" : " bytes)");
    }

    private static String printable(String name) {
        StringBuilder out = new StringBuilder();
        name.chars()
                .limit(40)
                .forEach(c -> out.append(c > ' ' && c < 127 ? "" + (char) c : String.format("\\u%04x", c)));
        return out.toString();
    }
}
