// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that messages published by other Redis clients neither grant nor release a lock. Rule S19. */
@Tag("once")
class ForgedMessageTest extends ThreeLinkedMastersTest {
    private static String attempt(String lock) {
        String grant = KEYS.of(new LockName(lock)).grant();
        Await.until("the first master has voted", SOON, () -> has(0, grant)); // a majority was enough for the grant
        try (RawRedis redis = raw(0)) {
            return String.valueOf(redis.call("GET", grant)).substring(0, 32);
        }
    }

    /**
     * Publishes to all subscribers at each master, and waits until the connections of the client have delivered the messages.
     */
    private void publish(String text) throws InterruptedException {
        publish(text, channel -> true);
        client().named("barrier").acquire().close();
    }

    private static void publish(String text, Predicate<String> to) {
        for (int master = 0; master < 3; master++) {
            try (RawRedis redis = raw(master)) {
                List<?> channels = (List<?>) Objects.requireNonNull(redis.call("PUBSUB", "CHANNELS"));
                channels.stream()
                        .map(String::valueOf)
                        .filter(to)
                        .forEach(channel -> redis.call("PUBLISH", channel, text));
            }
        }
    }

    @Test
    void S19_forgedMessageReleasesNoLease() throws Exception {
        try (LockClient other = RedlockLocks.connect(options(), FiveMastersTest.LONG_TIMEOUTS)) {
            FiveMastersTest.awaitAllVote(other);
            Lease theirs = other.named("x").acquire();
            Lease ours = client().named("y").acquire();
            Lease unqueued = client().named("z").tryAcquire().orElseThrow();
            publish("W " + attempt("x") + " lock:x");
            publish("W " + attempt("y") + " lock:y");
            publish("W " + attempt("z") + " lock:z");
            other.named("barrier").acquire().close();
            assertThat(theirs.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(ours.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(unqueued.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    private static String waiter() {
        try (RawRedis redis = raw(0)) {
            return String.valueOf(
                    ((List<?>) Objects.requireNonNull(redis.call("ZRANGE", X.queue(), "0", "-1"))).get(0));
        }
    }

    /** A client deletes the queue entry of an unknown attempt only if that belonged to the client itself. */
    @Test
    void S19_forgedMessageDeletesNoQueueEntryOfAnotherClient() throws Exception {
        try (LockClient other = RedlockLocks.connect(options(), FiveMastersTest.LONG_TIMEOUTS)) {
            FiveMastersTest.awaitAllVote(other);
            Lease held = other.named("x").acquire();
            CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
            for (int master = 0; master < 3; master++) {
                int at = master;
                Await.until("the waiter is queued", SOON, () -> has(at, X.queue()));
            }
            String attempt = waiter();
            String ownChannel = KEYS.channel(context().clientId());
            publish("W " + attempt + " " + X.grant(), channel -> !channel.equals(ownChannel));
            for (int i = 0; i < 2; i++) { // the reaction to the message follows the first of them
                other.named("barrier").acquire().close();
            }
            for (int master = 0; master < 3; master++) {
                try (RawRedis redis = raw(master)) {
                    assertThat(redis.call("ZSCORE", X.queue(), attempt)).isNotNull();
                }
            }
            held.release();
            waiting.get(10, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S19_forgedMessageCreatesNoHolder() throws Exception {
        Lease held = client().named("x").acquire();
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        Await.until("the waiter is queued", SOON, () -> has(0, X.queue()));
        String attempt = waiter();
        publish("W " + attempt + " " + X.grant());
        publish("G " + attempt + " 9007199254740990 1 " + X.grant());
        publish("G " + attempt + " 9007199254740990 1 " + "0".repeat(40) + " " + X.grant());
        assertThat(waiting).isNotDone();
        assertThat(held.isHeld()).isTrue();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        waiting.get(10, TimeUnit.SECONDS).close();
    }
}
