// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.BareRedis;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master that does not vote for a while, and then does again. */
@Tag("once")
class MasterReturnsTest extends ThreeLinesTest {
    private void awaitSilenceOf(int master, String why) {
        Await.until(
                "it does not vote",
                SOON,
                () -> client().admin().orElseThrow().diagnose().toCompletableFuture().join().stream()
                        .anyMatch(finding ->
                                finding.what().contains(":" + line(master).port() + " does not vote")
                                        && finding.what().contains(why)));
    }

    @Test
    void S15_oneThatDidNotLetUsAskIsGreetedAgain() throws Exception {
        bare(2, "ACL", "SETUSER", "default", "-info");
        line(2).resetConnections();
        awaitSilenceOf(2, "NOPERM");
        bare(2, "ACL", "SETUSER", "default", "+info");
        awaitVotesOfAll();
    }

    @Test
    void S15_oneThatWasDeadIsGreetedAgain() throws Exception {
        server(2).kill();
        awaitSilenceOf(2, "not connected");
        try (Lease lease = client().named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        server(2).restart();
        awaitSilenceOf(2, "votes in"); // it has forgotten
        awaitVotesOfAll();
    }

    private static long connections(BareRedis redis) {
        return Long.parseLong(Objects.requireNonNull(redis.info("stats").get("total_connections_received")));
    }

    /** Another connection to the same address would lead to the same server. */
    @Test
    void S15_oneThatBecameAReplicaIsNotConnectedToOverAndOver() throws Exception {
        DistributedLock lock = client().named("x");
        try (BareRedis redis = bare(2)) {
            redis.call("REPLICAOF", "127.0.0.1", "1"); // nobody
            try {
                lock.acquire().close();
                long before = connections(redis);
                long start = System.nanoTime();
                String said = "";
                while (System.nanoTime() - start < 2_000_000_000L) {
                    try (Lease lease = lock.acquire()) {
                        RedlockSummary.Instance one = lease.unwrap(RedlockSummary.class)
                                .orElseThrow()
                                .masters()
                                .get(2);
                        said = one.error().orElse(said);
                    }
                }
                assertThat(said).contains("READONLY");
                assertThat(connections(redis) - before).as("new connections").isZero();
            } finally {
                redis.call("REPLICAOF", "NO", "ONE");
            }
        }
        awaitVotesOfAll();
    }
}
