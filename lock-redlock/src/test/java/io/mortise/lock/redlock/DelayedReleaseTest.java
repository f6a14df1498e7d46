// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.redlock.grant.GrantTestAccess;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.storage.RedlockScriptBench;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what a delayed release leaves at masters that did not vote, were late, or have lost the grant. */
@Tag("once")
class DelayedReleaseTest extends ThreeLinkedMastersTest {
    private static final Duration DELAY = LEASE;

    private static String value(int master) {
        try (RawRedis redis = raw(master)) {
            return String.valueOf(redis.call("GET", X.grant()));
        }
    }

    private static long calls(int master, String command) {
        try (RawRedis redis = raw(master)) {
            return redis.commandCalls().getOrDefault(command, 0L);
        }
    }

    private static boolean isKept(int master) {
        return value(master).startsWith("~" + RedlockScriptBench.attempt(1));
    }

    private Contender contender(boolean mayWait) {
        LockRequest request = new Request(
                new LockName("x"), RedlockScriptBench.attempt(1), RedlockScriptBench.record(1), LEASE, mayWait);
        return backend().enqueue(request, new ContenderListener() {
            @Override
            public void wake() {}

            @Override
            public void lost(LossReason reason) {}
        });
    }

    private static <T> T result(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private static AttemptResult.Granted granted(Contender contender) throws Exception {
        return (AttemptResult.Granted) result(contender.attempt());
    }

    @Test
    void S05_ifAMajorityHasLostTheGrantNoVoteIsKept() throws Exception {
        Contender contender = contender(false);
        granted(contender);
        Await.until("all have voted", SOON, () -> has(0, X.grant()) && has(1, X.grant()) && has(2, X.grant()));
        raw(0, "DEL", X.grant());
        raw(1, "DEL", X.grant());
        raw(2, "CONFIG", "RESETSTAT");
        assertThat(result(contender.endAfter(DELAY))).isFalse();
        Await.until("the vote is deleted before the delay has passed", SOON, () -> calls(2, "del") == 1);
        assertThat(has(2, X.grant())).isFalse();
    }

    /** The script keeps the vote, but the reply is lost. */
    @Test
    void S05_ifAMajorityHasLostTheGrantNoVoteIsKeptWithoutAReplyEither() throws Exception {
        Contender contender = contender(false);
        granted(contender);
        Await.until("all have voted", SOON, () -> has(0, X.grant()) && has(1, X.grant()) && has(2, X.grant()));
        raw(0, "DEL", X.grant());
        raw(1, "DEL", X.grant());
        loadScripts(2);
        raw(2, "CONFIG", "RESETSTAT");
        link(2).withholdReplies();
        assertThat(result(contender.endAfter(DELAY))).isFalse();
        Await.until("the vote is deleted before the delay has passed", SOON, () -> calls(2, "del") == 1);
        assertThat(has(2, X.grant())).isFalse();
    }

    /** Loads all scripts, so that no request depends on the reply to an earlier one. */
    private static void loadScripts(int master) {
        for (RedlockScript script : RedlockScript.values()) {
            raw(master, "SCRIPT", "LOAD", script.script().text());
        }
    }

    @Test
    void S12_S17_noQueueEntryRemainsAtAMasterThatDidNotVote() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        try {
            Contender contender = contender(true);
            granted(contender);
            Await.until("it is queued at that master", SOON, () -> has(0, X.queue()));
            assertThat(result(contender.endAfter(DELAY))).isTrue();
            Await.until("its queue entry is deleted", SOON, () -> !has(0, X.queue()));
            assertThat(value(0)).isEqualTo("foreign");
            assertThat(isKept(1) && isKept(2)).isTrue();
        } finally {
            raw(0, "DEL", X.grant());
        }
    }

    /** The replies of one master are lost, so the vote that it recovers and the delayed release are both in doubt there. */
    @Test
    void S05_S08_cleanupsSpareTheVoteThatIsKept() throws Exception {
        Contender contender = contender(false);
        AttemptResult.Granted granted = granted(contender);
        Await.until("all have voted", SOON, () -> has(0, X.grant()) && has(1, X.grant()) && has(2, X.grant()));
        raw(0, "DEL", X.grant());
        loadScripts(0);
        link(0).withholdReplies();
        GrantTestAccess.recoverVote(granted.validity(), master(0));
        assertThat(result(contender.endAfter(DELAY))).isTrue();
        Await.until("the vote was recovered and is kept", SOON, () -> isKept(0));
        raw(0, "CONFIG", "RESETSTAT");
        Await.until("a cleanup has looked for the grant", SOON, () -> calls(0, "get") > 0);
        assertThat(calls(0, "del")).isZero();
        assertThat(isKept(0)).isTrue();
    }
}
