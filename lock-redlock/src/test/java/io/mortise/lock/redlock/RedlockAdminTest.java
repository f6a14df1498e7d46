// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LossReason;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that status and forced release treat a grant as a lock only if a majority of masters may have it. */
@Tag("once")
class RedlockAdminTest extends ThreeLinkedMastersTest {
    private LockAdmin admin() {
        return client().admin().orElseThrow();
    }

    private static List<LockHolder> holders(LockAdmin admin) throws Exception {
        return admin.status("x").get(10, TimeUnit.SECONDS).holders();
    }

    private LockHolder seen() throws Exception {
        return holders(admin()).get(0);
    }

    private boolean forceRelease(LockHolder seen) throws Exception {
        return admin().forceRelease("x", seen).get(10, TimeUnit.SECONDS);
    }

    /** The client may open with two connected masters, which could make the minority look like a possible majority. */
    @Test
    void S18_newClientQueriesAllMasters() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        link(2).delay(Duration.ofMillis(100));
        try (LockClient newClient = RedlockLocks.connect(options(), FiveMastersTest.LONG_TIMEOUTS)) {
            assertThat(holders(newClient.admin().orElseThrow())).isEmpty();
        }
        link(2).delay(Duration.ZERO);
        raw(0, "DEL", X.grant());
    }

    @Test
    void S18_possibleMajorityWithUnreachableMastersIsShown() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        assertThat(holders(admin())).isEmpty();
        link(2).cut();
        assertThat(holders(admin())).extracting(LockHolder::raw).containsExactly("foreign");
        link(2).heal();
        raw(0, "DEL", X.grant());
    }

    @Test
    void S18_minorityAfterAReleaseIsNoHolder() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        raw(1, "SET", X.grant(), "foreign");
        LockHolder seen = seen();
        raw(0, "DEL", X.grant());
        assertThat(forceRelease(seen)).isFalse();
        assertThat(has(1, X.grant())).isFalse();
    }

    /** Another contender had the vote of that master when the holder won the others. */
    @Test
    void S18_holderThatIsStillQueuedAtAMasterIsNoWaiter() throws Exception {
        awaitVotesOfAll();
        try (Lease lease = client().named("x").acquire();
                RawRedis redis = raw(2)) {
            Await.until("all have voted", SOON, () -> has(2, X.grant()));
            String vote = String.valueOf(redis.call("GET", X.grant()));
            String attempt = OwnerRecordCodec.attemptId(vote).orElseThrow();
            redis.call("ZADD", X.queue(), "1", attempt);
            redis.call("HSET", X.entries(), attempt, "channel 1000 9999999999999999 - " + vote);
            assertThat(lease.isHeld()).isTrue();
            assertThat(admin().status("x").get(10, TimeUnit.SECONDS).waiters()).isEmpty();
            redis.call("DEL", X.queue(), X.entries());
        }
    }

    @Test
    void S18_unreachableMasterMayCompleteTheHoldersMajority() throws Exception {
        awaitVotesOfAll();
        Lease lease = client().named("x").acquire();
        LockHolder seen = seen();
        raw(1, "DEL", X.grant());
        link(0).blackHole();
        assertThat(forceRelease(seen)).isTrue();
        assertThat(has(2, X.grant())).isFalse();
        assertThat(lease.lost().get(10, TimeUnit.SECONDS).kind())
                .isIn(LossReason.Kind.REMOVED, LossReason.Kind.EXPIRED);
        link(0).heal();
    }
}
