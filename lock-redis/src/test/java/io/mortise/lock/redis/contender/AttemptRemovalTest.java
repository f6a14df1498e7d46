// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.NodeFixture;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what is read from the replies of a removal script. */
class AttemptRemovalTest {
    private static final String ATTEMPT = "a".repeat(32);

    private final NodeFixture fixture = new NodeFixture();
    private RedisNodeClient node;

    private record Request(LockName name, String attemptId, String ownerRecord, Duration leaseDuration, boolean mayWait)
            implements LockRequest {}

    private record Removed(int epoch, ServerTime time, boolean held, boolean queued) {}

    @BeforeEach
    void open() {
        node = fixture.node(Duration.ofSeconds(5));
    }

    @AfterEach
    void close() {
        node.close().join();
        fixture.close();
    }

    /** Sends the removal with a script, and returns what its handler received. */
    private CompletableFuture<Removed> send(String script, boolean withTime) {
        LockRequest request = new Request(new LockName("x"), ATTEMPT, "", Duration.ofSeconds(30), false);
        CompletableFuture<Removed> outcome = new CompletableFuture<>();
        new AttemptRemoval(request, new LuaScript(script), new String[] {"runs"})
                .send(node, withTime, new AttemptRemoval.Handler() {
                    @Override
                    public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {
                        outcome.complete(new Removed(epoch, time, held, queued));
                    }

                    @Override
                    public void onFailure(boolean notExecuted, LockException cause) {
                        outcome.completeExceptionally(cause);
                    }
                });
        return outcome;
    }

    private String read(String key) {
        return node.execute("a read", commands -> commands.get(key))
                .toCompletableFuture()
                .join();
    }

    @Test
    void aSingleNumberIsTheGrant() throws Exception {
        assertThat(send("return 1", false).get(20, TimeUnit.SECONDS))
                .isEqualTo(new Removed(node.epoch(), ServerTime.UNKNOWN, true, false));
    }

    @Test
    void aListContainsTheQueueEntryAndTheTime() throws Exception {
        assertThat(send("return { 0, 1, 42 }", true).get(20, TimeUnit.SECONDS))
                .isEqualTo(new Removed(node.epoch(), new ServerTime(42), false, true));
    }

    @Test
    void theScriptKnowsWhetherTheTimeIsRequired() throws Exception {
        String timeIfRequired = "return { 0, 0, tonumber(ARGV[2]) }";
        assertThat(send(timeIfRequired, true).get(20, TimeUnit.SECONDS).time()).isEqualTo(new ServerTime(1));
        assertThat(send(timeIfRequired, false).get(20, TimeUnit.SECONDS).time()).isEqualTo(new ServerTime(0));
    }

    @Test
    void theScriptRunsAgainForTheWaitersWhileItSaysSo() throws Exception {
        String threeTimes = "local runs = redis.call('INCR', KEYS[1]) return { 1, 0, 42, runs < 3 and 1 or nil }";
        assertThat(send(threeTimes, false).get(20, TimeUnit.SECONDS).held()).isTrue();
        Await.until(
                "it has run three times", NodeFixture.SOON, () -> read("runs").equals("3"));
    }

    /** The attempt may have the next grant by then. */
    @Test
    void S01_theRunForTheWaitersRemovesNothingOfTheAttempt() throws Exception {
        String records = "local runs = redis.call('INCR', KEYS[1]) redis.call('SET', 'id' .. runs, ARGV[1])"
                + " return { 1, 0, 42, runs < 2 and 1 or nil }";
        assertThat(send(records, false).get(20, TimeUnit.SECONDS).held()).isTrue();
        Await.until("it has run again", NodeFixture.SOON, () -> read("runs").equals("2"));
        assertThat(read("id1")).isEqualTo(ATTEMPT);
        assertThat(ATTEMPT + " a record").doesNotStartWith(read("id2"));
    }

    @Test
    void S15_aStringInsteadOfANumberExplainsAFailedRemoval() {
        assertThat(send("return { 'quarantine' }", false))
                .failsWithin(20, TimeUnit.SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(BackendUnavailableException.class)
                .withMessageContaining("quarantine")
                .withMessageContaining(fixture.server.url())
                .withMessageContaining("lock \"x\"");
    }
}
