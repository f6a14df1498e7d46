// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that results and errors of an acquire report the votes and failures of individual masters. */
@Tag("once")
class RedlockOutcomeTest extends FiveMastersTest {
    private static void raw(int master, String... command) {
        try (RawRedis redis = masters.get(master).connect()) {
            redis.call(command);
        }
    }

    @Test
    void S15_summaryShowsTheVoteOfEachMaster() throws Exception {
        LockClient client = client();
        raw(1, "SET", keys("x").grant(), "foreign", "PX", "60000");
        raw(3, "LPUSH", keys("x").grant(), "a", "list");
        try (Lease lease = client.named("x").acquire()) {
            RedlockVoteSummary summary = lease.unwrap(RedlockVoteSummary.class).orElseThrow();
            assertThat(summary.masters())
                    .extracting(RedlockVoteSummary.Instance::endpoint)
                    .containsExactlyElementsOf(masters.ports().stream()
                            .map(port -> "redis://127.0.0.1:" + port)
                            .toList());
            assertThat(summary.count(RedlockVoteSummary.Vote.ACQUIRED)).isEqualTo(3);
            assertThat(summary.masters().get(1).vote())
                    .isIn(RedlockVoteSummary.Vote.CONFLICTED, RedlockVoteSummary.Vote.PENDING);
            assertThat(summary.masters().get(3).vote())
                    .isIn(RedlockVoteSummary.Vote.FAILED, RedlockVoteSummary.Vote.PENDING);
            assertThat(lease.unwrap(String.class)).isEmpty();
        }
        raw(1, "DEL", keys("x").grant());
        raw(3, "DEL", keys("x").grant());
    }

    @Test
    void S14_keyOfForeignTypeAtAMajorityIsAnError() {
        LockClient client = client();
        for (int i = 0; i < 3; i++) {
            raw(i, "LPUSH", keys("x").grant(), "a", "list");
        }
        assertThatThrownBy(() -> client.named("x").tryAcquire(SOON))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll("no quorum", "WRONGTYPE", "another prefix");
        for (int i = 0; i < 3; i++) {
            raw(i, "DEL", keys("x").grant());
        }
    }

    @Test
    void S15_noQuorumErrorNamesMastersThatDidNotReply() throws Exception {
        LockClient client = client();
        DistributedLock lock = client.named("x");
        List<RedisTestServer> stalled = masters.all().subList(1, 4);
        stalled.forEach(RedisTestServer::pause);
        try {
            assertThatThrownBy(() -> lock.tryAcquire(Duration.ofSeconds(4)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContainingAll("no quorum: 2 of 5 masters answered, these did not: ")
                    .satisfies(failure -> {
                        String message = failure.getMessage() + failure.getCause();
                        stalled.forEach(server -> assertThat(message).contains("127.0.0.1:" + server.port() + " ("));
                        assertThat(message).doesNotContain(":" + masters.get(0).port() + " (");
                        assertThat(message).doesNotContain(":" + masters.get(4).port() + " (");
                    });
        } finally {
            stalled.forEach(RedisTestServer::resume);
        }
        awaitAllVote(client);
        lock.tryAcquire(SOON).orElseThrow().close();
    }

    @Test
    void S08_fullMastersReleaseAndThenRefuse() throws Exception {
        DistributedLock lock = client().named("x");
        Lease lease = lock.acquire();
        masters.each(redis -> redis.call("CONFIG", "SET", "maxmemory", "1"));
        try {
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThatThrownBy(() -> lock.tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasStackTraceContaining("OOM");
        } finally {
            masters.each(redis -> redis.call("CONFIG", "SET", "maxmemory", "0"));
        }
        lock.tryAcquire(SOON).orElseThrow().close();
    }
}
