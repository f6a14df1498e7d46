// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.testkit.process.Await;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that no attempt becomes a holder because others publish messages or write the token counter (S19). */
class ForgedGrantTest extends OneServerTest {
    private static final String WRONG_SIGNATURE = "0123456789abcdef0123456789abcdef01234567";

    private LockClient holder;
    private LockClient client;
    private RawRedis forger;
    private String channel;

    @BeforeEach
    void connect() {
        client = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
        channel = String.valueOf(((List<?>) Objects.requireNonNull(redis.call("PUBSUB", "CHANNELS"))).get(0));
        holder = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
        redis.call(
                "ACL", "SETUSER", "forger", "on", ">secret", "~*", "&*", "+@all", "-@write", "-@admin", "-@dangerous");
        forger = RawRedis.connect(server.port(), "forger", "secret");
    }

    @AfterEach
    void close() {
        forger.close();
        client.close();
        holder.close();
        redis.call("FLUSHALL");
    }

    private static String waiter() {
        Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
        return String.valueOf(
                ((List<?>) Objects.requireNonNull(redis.call("ZRANGE", "lock:%queue:x", "0", "-1"))).get(0));
    }

    private static long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(redis.call("TIME"));
        return Long.parseLong(String.valueOf(time.get(0))) * 1_000_000 + Long.parseLong(String.valueOf(time.get(1)));
    }

    @Test
    void S19_aMessageWithoutTheNonceGrantsNothing() throws Exception {
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        String attempt = waiter();
        client.named("barrier").acquire().close();
        redis.resetCommandCalls();
        for (long token : List.of(held.fencingToken() + 1, (1L << 53) - 1)) {
            String message = "G " + attempt + " " + token + " " + micros();
            forger.call("PUBLISH", channel, message + " lock:x");
            forger.call("PUBLISH", channel, message + " " + WRONG_SIGNATURE + " lock:x");
        }
        forger.call("PUBLISH", channel, "W " + attempt + " " + WRONG_SIGNATURE + " lock:x");
        client.named("barrier").acquire().close(); // earlier messages arrive before its reply
        assertThat(redis.scriptCallsExceptRenewals())
                .as("the waiter sent no request")
                .isEqualTo(2);
        assertThat(waiting).isNotDone();
        held.release();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken()).isLessThanOrEqualTo(micros());
        next.close();
    }

    /** A genuine message grants nothing when another client publishes it again. */
    @Test
    void S19_aReplayedMessageGrantsNothing() throws Exception {
        List<String> recorded = redis.monitor(() -> {
            try {
                Lease held = holder.named("x").acquire();
                CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
                waiter();
                held.release();
                waiting.get(10, TimeUnit.SECONDS).close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        String genuine = recorded.stream()
                .filter(line -> line.contains("\"G "))
                .map(line -> line.replaceFirst(".*\"(G [^\"]+)\".*", "$1"))
                .findFirst()
                .orElseThrow();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        String attempt = waiter();
        // The first message is plausible except for its signature; the others are replayed, or name another attempt.
        String now = "G " + attempt + " " + (held.fencingToken() + 1) + " " + micros();
        forger.call("PUBLISH", channel, genuine.replaceFirst("^G [0-9a-f]+ \\d+ \\d+", now));
        forger.call("PUBLISH", channel, genuine);
        forger.call("PUBLISH", channel, genuine.replaceFirst("^G [0-9a-f]+", "G " + attempt));
        client.named("barrier").acquire().close();
        assertThat(waiting).isNotDone();
        assertThat(held.isHeld()).isTrue();
        held.release();
        waiting.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void S19_theNonceIsNotShownToOperators() throws Exception {
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        String attempt = waiter();
        String nonce =
                String.valueOf(redis.call("HGET", "lock:%waiters:x", attempt)).split(" ", 5)[3];
        assertThat(nonce).matches("[0-9a-f]{32}").isNotEqualTo(attempt);
        String seen = client.admin()
                .orElseThrow()
                .status("x")
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .toString();
        assertThat(seen).contains(attempt).doesNotContain(nonce);
        held.release();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(String.valueOf(redis.call("GET", "lock:x")))
                .startsWith(attempt)
                .doesNotContain(nonce);
        next.close();
    }

    @Test
    void S19_anImpossibleTokenIsRefusedAndItsGrantReleased() {
        for (String forged : List.of("9007199254740991", "9007199254740992", "1e300", "inf")) {
            redis.call("SET", "lock:%token", forged);
            assertThatThrownBy(() -> client.named("x").acquire())
                    .as(forged)
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContaining("lock:%token");
            assertThat(redis.keys("lock:x")).isEmpty();
        }
    }

    @Test
    void S19_anImpossibleTokenIsRefusedAlsoWhenTheLockIsHandedOff() throws Exception {
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        waiter();
        redis.call("SET", "lock:%token", "9007199254740991");
        held.release();
        assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(BackendRefusedException.class);
    }
}
