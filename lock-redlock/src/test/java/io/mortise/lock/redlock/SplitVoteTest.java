// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.redlock.grant.ContenderServices;
import io.mortise.lock.redlock.grant.RedlockContender;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.storage.RedlockScriptBench;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests attempts that do not wait, while each of three contenders has the vote of one master. The other two contenders are keys
 * of other applications, and change while the attempt pauses.
 */
@Tag("once")
class SplitVoteTest extends ThreeLinkedMastersTest {
    private final AtomicInteger pauses = new AtomicInteger();

    @AfterEach
    void deleteForeignKeys() {
        raw(1, "DEL", X.grant());
        raw(2, "DEL", X.grant());
    }

    /** A clock whose short timers fire when the script of the test has run or failed, whatever their delay is. */
    private record ScriptedClock(LockClock real, Runnable script, Consumer<Throwable> failed) implements LockClock {
        @Override
        public MonotonicInstant now() {
            return real.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            if (delay.compareTo(Duration.ofSeconds(1)) > 0) {
                return real.schedule(delay, task); // the timeout of a cleanup
            }
            CompletableFuture.runAsync(script) // not on an I/O thread, which the script may wait for
                    .whenComplete((done, failure) -> {
                        if (failure != null) {
                            failed.accept(failure);
                        }
                        task.run();
                    });
            return () -> {};
        }
    }

    /** Returns how often the first master has voted. */
    private static long votes() {
        try (RawRedis redis = raw(0)) {
            Object counter = redis.call("HGET", KEYS.state(), X.bucket());
            return counter == null ? 0 : Long.parseLong((String) counter);
        }
    }

    /** Makes an attempt whose pauses run the script. Returns its result after its end, whose cleanup is part of the test. */
    private AttemptResult attempt(Runnable script) throws Exception {
        long before = votes();
        for (int master = 0; master < 3; master++) {
            for (RedlockScript each : RedlockScript.values()) { // an acquire that is sent again comes after its yield
                raw(master, "SCRIPT", "LOAD", each.script().text());
            }
        }
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        LockClock clock = new ScriptedClock(
                context().clock(),
                () -> {
                    long votes = before + pauses.incrementAndGet();
                    Await.until("it has voted and yielded", SOON, () -> votes() == votes && !has(0, X.grant()));
                    script.run();
                },
                failures::add);
        BackendContext scripted = (BackendContext) Proxy.newProxyInstance(
                BackendContext.class.getClassLoader(), new Class<?>[] {BackendContext.class}, (proxy, method, args) -> {
                    try {
                        return method.getName().equals("clock") ? clock : method.invoke(context(), args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        ContenderServices services = backend().services();
        RedlockContender contender = new RedlockContender(
                new ContenderServices(
                        scripted,
                        services.keys(),
                        services.masters(),
                        services.quarantine(),
                        services.contenders(),
                        services.summary()),
                new Request(
                        new LockName("x"), RedlockScriptBench.attempt(1), RedlockScriptBench.record(1), LEASE, false),
                new ContenderListener() {
                    @Override
                    public void wake() {}

                    @Override
                    public void lost(LossReason reason) {}
                });
        AttemptResult result = contender.attempt().toCompletableFuture().get(60, TimeUnit.SECONDS);
        contender.end().toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(failures).isEmpty();
        return result;
    }

    private static void splitVotes() {
        raw(1, "SET", X.grant(), "one");
        raw(2, "SET", X.grant(), "another");
    }

    @Test
    void S09_anAttemptWinsWhenTheOthersHaveGivenUp() throws Exception {
        splitVotes();
        assertThat(attempt(this::deleteForeignKeys)).isInstanceOf(AttemptResult.Granted.class);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void S09_anAttemptIsOverWhenAnotherHasAMajority() throws Exception {
        splitVotes();
        assertThat(attempt(() -> raw(2, "SET", X.grant(), "one"))).isInstanceOf(AttemptResult.Waiting.class);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void S09_anAttemptEndsAfterAFewRoundsThatNobodyWins() throws Exception {
        splitVotes();
        assertThat(attempt(() -> {})).isInstanceOf(AttemptResult.Waiting.class);
        assertThat(pauses).as("within half of the request timeout").hasValueBetween(1, 5);
    }

    @Test
    void S09_aHeldLockIsBusyAtOnce() throws Exception {
        raw(1, "SET", X.grant(), "one");
        raw(2, "SET", X.grant(), "one");
        assertThat(attempt(() -> {})).isInstanceOf(AttemptResult.Waiting.class);
        assertThat(pauses).hasValue(0);
    }
}
