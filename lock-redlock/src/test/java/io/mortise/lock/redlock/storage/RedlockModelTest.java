// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import io.mortise.lock.explorer.redis.ServerComparison;
import io.mortise.lock.servers.redis.RedisScriptFixture;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the model of a master, which the exploration uses, answers as a real one does: random calls of every script. Masters
 * share nothing, so one stands for all.
 */
@Tag("once")
class RedlockModelTest {
    private static final int FEW = 300;
    private static final int MANY = 3_000;
    private static final int STEPS = 40;

    /** Lifetime of a queue entry; twice of it is a multiple of the unit. */
    private static final long ENTRY_MICROS = ServerComparison.TTL_UNIT * 1000 / 2;

    private static final String RUN = "run";
    private static final String LIVE = "live";
    private static final String DEAD = "dead";
    private static final RedlockKeys KEYS = new RedlockKeys("lock:");
    private static final List<RedlockKeys.LockKeys> LOCKS =
            List.of(KEYS.of(new LockName("x")), KEYS.of(new LockName("y z")));

    @Test
    void theModelAnswersAsAMasterDoes() {
        compare(0, FEW);
    }

    @Test
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theModelAnswersAsAMasterDoesToThousandsOfSequences() {
        compare(FEW, MANY);
    }

    private static void compare(int from, int to) {
        try (RedisScriptFixture master = new RedlockScriptBench();
                ServerComparison both = new ServerComparison(master.redis()::call, Set.of(LIVE))) {
            master.listen(LIVE);
            for (int seed = from; seed < to; seed++) {
                Random random = new Random(seed);
                both.restart();
                both.command("HSET", KEYS.state(), "run", RUN);
                for (int step = 0; step < STEPS; step++) {
                    step(both, random);
                }
                both.compareKeys();
            }
        }
    }

    private static void step(ServerComparison both, Random random) {
        RedlockKeys.LockKeys lock = LOCKS.get(random.nextInt(5) == 0 ? 1 : 0);
        String attempt = RedisScriptFixture.attempt(10 + random.nextInt(5));
        String run = random.nextInt(15) == 0 ? "another run" : RUN;
        String round = String.valueOf(1 + random.nextInt(3));
        String vote = attempt + " record of " + attempt + " round=" + round;
        String token = String.valueOf(random.nextInt(4) == 0 ? 1_700_000_000_000_000L : 1 + random.nextInt(20));
        String notAfter = String.valueOf(both.micros() + (random.nextInt(10) == 0 ? -1 : 1_000_000));
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4, 5 -> {
                List<String> args = new ArrayList<>(
                        List.of(run, lock.bucket(), attempt, vote, millis(random), notAfter, flag(random)));
                args.addAll(waiting(random));
                run(both, RedlockScript.ACQUIRE, lock, args.toArray(String[]::new));
            }
            case 6 -> run(both, RedlockScript.RAISE_TOKEN, lock, run, lock.bucket(), attempt, round, token);
            case 7 ->
                run(
                        both,
                        RedlockScript.RECOVER_VOTE,
                        lock,
                        run,
                        lock.bucket(),
                        attempt,
                        token,
                        vote,
                        millis(random),
                        notAfter);
            case 8, 9 -> {
                List<String> args = new ArrayList<>(List.of(attempt, round, flag(random)));
                List<String> waiting = waiting(random);
                if (!waiting.isEmpty()) {
                    args.addAll(List.of(attempt + " record of " + attempt, millis(random)));
                    args.addAll(waiting);
                }
                run(both, RedlockScript.YIELD_VOTE, lock, args.toArray(String[]::new));
            }
            case 10, 11, 12 -> run(both, RedlockScript.RELEASE, lock, attempt, flag(random));
            case 13 -> run(both, RedlockScript.RELEASE, lock, attempt, "1", random.nextBoolean() ? "record" : "other");
            case 14 -> run(both, RedlockScript.RELEASE_AFTER, lock, attempt, millis(random), "", run);
            case 15 ->
                both.script(
                        "RENEW",
                        RedlockScript.RENEW.script().text(),
                        List.of(KEYS.state(), LOCKS.get(0).grant(), LOCKS.get(1).grant()),
                        List.of(run, attempt, round, millis(random), attempt, "1", millis(random)));
            case 16 -> quarantine(both, random, run, token);
            case 17, 18 ->
                both.advance(
                        both.elapsed() < ENTRY_MICROS && random.nextInt(3) == 0
                                ? ENTRY_MICROS / 2
                                : List.of(1L, 400_000L, 1_100_000L).get(random.nextInt(3)));
            default -> disturb(both, lock, attempt, random);
        }
        both.advance(1 + random.nextInt(2)); // sometimes two requests are executed in the same millisecond
    }

    /** The start of the quarantine that the client knows is the comparison's time in some of the calls. */
    private static void quarantine(ServerComparison both, Random random, String run, String counter) {
        String maxLease = random.nextInt(5) == 0 ? "0" : "60000";
        String handshake = RedlockScript.HANDSHAKE.script().text();
        String leave = RedlockScript.LEAVE_QUARANTINE.script().text();
        String since = String.valueOf(both.micros() - random.nextInt(2));
        both.script("HANDSHAKE", handshake, List.of(KEYS.state()), List.of(run, maxLease, "l*"));
        both.script(
                "LEAVE_QUARANTINE",
                leave,
                List.of(KEYS.state()),
                List.of(
                        run,
                        since,
                        "60000",
                        flag(random),
                        flag(random),
                        "l*",
                        LOCKS.get(0).bucket(),
                        counter));
        both.script(
                "READ_COUNTERS",
                RedlockScript.READ_COUNTERS.script().text(),
                List.of(KEYS.state()),
                List.of(run, LOCKS.get(0).bucket(), LOCKS.get(1).bucket()));
    }

    /** A vote expires, the master loses its data, an operator frees the lock, or another application writes to the keys. */
    private static void disturb(ServerComparison both, RedlockKeys.LockKeys lock, String attempt, Random random) {
        switch (random.nextInt(8)) {
            case 0, 1 -> both.command("DEL", lock.grant());
            case 2 -> both.command("DEL", lock.queue());
            case 3 -> both.command("DEL", lock.entries());
            case 4 -> both.command("HDEL", KEYS.state(), "run");
            case 5 -> {
                both.command("DEL", lock.grant());
                both.command("HSET", lock.grant(), "of", "another");
            }
            case 6 -> run(both, RedlockScript.RELEASE, lock, OwnerRecordCodec.KEPT_MARK + attempt, "0");
            default -> run(both, RedlockScript.FORCE_RELEASE, lock, attempt, flag(random));
        }
    }

    private static String flag(Random random) {
        return random.nextBoolean() ? "1" : "0";
    }

    private static String millis(Random random) {
        return String.valueOf(ServerComparison.TTL_UNIT * (1 + random.nextInt(3)));
    }

    /** Returns the arguments of an attempt that waits, or none. */
    private static List<String> waiting(Random random) {
        String position = random.nextInt(6) == 0 ? "inf" : String.valueOf(random.nextInt(4));
        return random.nextInt(3) == 0
                ? List.of()
                : List.of(random.nextInt(3) == 0 ? DEAD : LIVE, position, String.valueOf(ENTRY_MICROS / 1000));
    }

    private static void run(ServerComparison both, RedlockScript script, RedlockKeys.LockKeys lock, String... args) {
        both.script(script.name(), script.script().text(), List.of(lock.all()), List.of(args));
    }
}
