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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AttemptRemovalTest {
    /** A removal script that counts its runs in a key. */
    private static final LuaScript COUNTS = new LuaScript(
            "redis.call('INCR', KEYS[1]) local t = redis.call('TIME') return { 0, 1, t[1] * 1000000 + t[2] }");

    private final NodeFixture fixture = new NodeFixture();
    private final AtomicInteger timeRequests = new AtomicInteger();
    private RedisNodeClient node;

    private record Request(LockName name, String attemptId, String ownerRecord, Duration leaseDuration, boolean mayWait)
            implements LockRequest {}

    @BeforeEach
    void open() {
        node = fixture.node(Duration.ofSeconds(5));
    }

    @AfterEach
    void close() {
        node.close().join();
        fixture.close();
    }

    private AttemptRemoval removal(LuaScript script) {
        LockRequest request = new Request(new LockName("x"), "a".repeat(32), "", Duration.ofSeconds(30), false);
        return new AttemptRemoval(fixture.context, request, () -> node, script, new String[] {"runs"}, wanted -> {
            if (wanted) {
                timeRequests.incrementAndGet();
            }
            return new String[0];
        });
    }

    private long runs() throws Exception {
        String runs = node.execute("a read", commands -> commands.get("runs"))
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        return Long.parseLong(runs);
    }

    private long serverMicros() throws Exception {
        List<String> time = node.execute("the time", commands -> commands.time())
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    private static AttemptRemoval.Removed end(AttemptRemoval removal) throws Exception {
        CompletableFuture<AttemptRemoval.Removed> ended = new CompletableFuture<>();
        removal.end(ended::complete, ended::completeExceptionally);
        return ended.get(20, TimeUnit.SECONDS);
    }

    @Test
    void ifEveryRequestHadAReplyOneReleaseIsEnough() throws Exception {
        assertThat(end(removal(COUNTS))).isEqualTo(new AttemptRemoval.Removed(false, true, true));
        assertThat(runs()).isEqualTo(1);
        assertThat(timeRequests).hasValue(0);
    }

    @Test
    void S08_aLaterReplyOnTheSameConnectionResolvesARequestInDoubt() throws Exception {
        AttemptRemoval removal = removal(COUNTS);
        removal.onInDoubt(node.epoch(), new ServerTime(Long.MAX_VALUE));
        assertThat(removal.mayStillExecute()).isTrue();
        assertThat(end(removal).complete()).isTrue();
        assertThat(removal.mayStillExecute()).isFalse();
        assertThat(timeRequests).hasValue(1);
    }

    @Test
    void S08_theRemovalIsRepeatedUntilTheServerRefusesARequestOfALostConnection() throws Exception {
        AttemptRemoval removal = removal(COUNTS);
        removal.onInDoubt(node.epoch() - 1, new ServerTime(serverMicros() + 2_000_000));
        assertThat(end(removal).complete()).isFalse();
        assertThat(removal.mayStillExecute()).isTrue();
        Await.until("its outcome is known", NodeFixture.SOON, () -> !removal.mayStillExecute());
        assertThat(runs()).isGreaterThan(1);
    }

    @Test
    void S15_aStringInsteadOfANumberExplainsAFailedRemoval() throws Exception {
        CompletableFuture<LockException> failed = new CompletableFuture<>();
        removal(new LuaScript("return { 'quarantine' }"))
                .end(found -> failed.completeExceptionally(new AssertionError(found)), failed::complete);
        assertThat(failed.get(20, TimeUnit.SECONDS))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("quarantine")
                .hasMessageContaining(fixture.server.url())
                .hasMessageContaining("lock \"x\"");
    }
}
