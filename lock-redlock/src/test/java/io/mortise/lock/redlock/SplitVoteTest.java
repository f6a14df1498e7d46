// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LossReason;
import io.mortise.lock.redlock.grant.ContenderServices;
import io.mortise.lock.redlock.grant.RedlockContender;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.storage.RedlockScriptBench;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests an attempt that does not wait, while each of three contenders has the vote of one master. The other two contenders are
 * keys of other applications, which are deleted while the attempt pauses. What the attempt decides is tested without servers.
 */
@Tag("once")
class SplitVoteTest extends ThreeLinkedMastersTest {
    /** Shorter than the time within which no key may remain: a close gives up the cleanup of a request that is sent again late. */
    private static final Duration LONG_LEASE = Duration.ofSeconds(16);

    /** Masters that a stalled machine does not make silent. */
    @Override
    RedlockOptions options() {
        return super.options().leaseDuration(LONG_LEASE).maxLease(LONG_LEASE).nodeTimeout(LONG_LEASE.dividedBy(4));
    }

    /** A clock whose short timers fire when the action of the test has run, whatever their delay is. */
    private record ScriptedClock(LockClock real, Runnable action) implements LockClock {
        @Override
        public MonotonicInstant now() {
            return real.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            if (delay.compareTo(Duration.ofSeconds(1)) > 0) {
                return real.schedule(delay, task); // the timeout of a cleanup
            }
            CompletableFuture.runAsync(action) // not on an I/O thread, which the action may wait for
                    .thenRun(task);
            return () -> {};
        }
    }

    private RedlockContender contender(LockClock clock) {
        ContenderServices services = backend().services();
        return new RedlockContender(
                new ContenderServices(
                        withClock(context(), clock),
                        services.keys(),
                        services.masters(),
                        services.quarantine(),
                        services.contenders(),
                        services.summary()),
                new Request(
                        new LockName("x"),
                        RedlockScriptBench.attempt(1),
                        RedlockScriptBench.record(1),
                        LONG_LEASE,
                        false),
                new ContenderListener() {
                    @Override
                    public void wake() {}

                    @Override
                    public void lost(LossReason reason) {}
                });
    }

    @Test
    void S09_anAttemptWinsWhenTheOthersHaveGivenUp() throws Exception {
        for (int master = 0; master < 3; master++) {
            for (RedlockScript each : RedlockScript.values()) { // so that no request is sent again, behind the release
                raw(master, "SCRIPT", "LOAD", each.script().text());
            }
        }
        raw(1, "SET", X.grant(), "one");
        raw(2, "SET", X.grant(), "another");
        AtomicInteger pauses = new AtomicInteger();
        RedlockContender contender = contender(new ScriptedClock(context().clock(), () -> {
            pauses.incrementAndGet();
            raw(1, "DEL", X.grant());
            raw(2, "DEL", X.grant());
        }));
        assertThat(contender.attempt().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isInstanceOf(AttemptResult.Granted.class);
        assertThat(pauses).hasPositiveValue();
        contender.end().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
