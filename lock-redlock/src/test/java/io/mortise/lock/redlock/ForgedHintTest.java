// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.BareRedis;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What others publish makes no holder, and takes nothing from one (S19). */
@Tag("once")
class ForgedHintTest extends ThreeLinesTest {
    private static String attempt(String lock) {
        try (BareRedis redis = bare(0)) {
            return String.valueOf(redis.call("GET", KEYS.of(new LockName(lock)).grant()))
                    .substring(0, 32);
        }
    }

    /** To everybody who listens, at each master; what is asked on the same connections after it comes after it. */
    private void publish(String text) throws InterruptedException {
        for (int master = 0; master < 3; master++) {
            try (BareRedis redis = bare(master)) {
                List<?> channels = (List<?>) Objects.requireNonNull(redis.call("PUBSUB", "CHANNELS"));
                for (Object channel : channels) {
                    redis.call("PUBLISH", String.valueOf(channel), text);
                }
            }
        }
        client().named("barrier").acquire().close();
    }

    @Test
    void S19_noHintMakesAClientGiveAwayALease() throws Exception {
        try (LockClient other = RedlockLocks.connect(options(), FiveMastersTest.PATIENT)) {
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

    @Test
    void S19_aForgedHintMakesNoHolder() throws Exception {
        Lease held = client().named("x").acquire();
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        Await.until("it stands in line", SOON, () -> has(0, X.queue()));
        String attempt;
        try (BareRedis redis = bare(0)) {
            attempt = String.valueOf(
                    ((List<?>) Objects.requireNonNull(redis.call("ZRANGE", X.queue(), "0", "-1"))).get(0));
        }
        publish("W " + attempt + " " + X.grant());
        publish("G " + attempt + " 9007199254740990 1 " + X.grant());
        publish("G " + attempt + " 9007199254740990 1 " + "0".repeat(40) + " " + X.grant());
        assertThat(waiting).isNotDone();
        assertThat(held.isHeld()).isTrue();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        waiting.get(10, TimeUnit.SECONDS).close();
    }
}
