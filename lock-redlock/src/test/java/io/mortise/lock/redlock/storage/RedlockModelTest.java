// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.redis.ServerComparison;
import io.mortise.lock.servers.redis.RedisScriptFixture;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
    private static final String MAX_LEASE = "1000"; // so short that a quarantine ends within a sequence
    private static final String LIVE = "live";
    private static final String DEAD = "dead";
    private static final RedlockKeys KEYS = new RedlockKeys("lock:");
    private static final List<String> STATE = List.of(KEYS.state());
    private static final List<RedlockKeys.LockKeys> LOCKS =
            List.of(KEYS.of(new LockName("x")), KEYS.of(new LockName("y z")));

    /** The outcomes of the scripts so far: the first value of each kind of reply. */
    private final Set<String> outcomes = new TreeSet<>();

    @Test
    void theModelAnswersAsAMasterDoes() {
        compare(0, FEW);
        assertThat(outcomes)
                .contains(
                        "ACQUIRE: 1",
                        "ACQUIRE: token",
                        "ACQUIRE: busy",
                        "ACQUIRE: late",
                        "ACQUIRE: quarantined",
                        "RAISE_TOKEN: 0",
                        "RAISE_TOKEN: 1",
                        "RAISE_TOKEN: quarantined",
                        "RECOVER_VOTE: 0",
                        "RECOVER_VOTE: 1",
                        "RECOVER_VOTE: late",
                        "RECOVER_VOTE: quarantined",
                        "YIELD_VOTE: 0",
                        "YIELD_VOTE: 1",
                        "RELEASE: 0",
                        "RELEASE: 1",
                        "RELEASE of a queue entry: 0",
                        "RELEASE of a queue entry: 1",
                        "RELEASE_AFTER: 0",
                        "RELEASE_AFTER: 1",
                        "RELEASE_AFTER: quarantined",
                        "FORCE_RELEASE: 0",
                        "FORCE_RELEASE: 1",
                        "RENEW: 0",
                        "RENEW: 1",
                        "RENEW: quarantined",
                        "HANDSHAKE: 0",
                        "HANDSHAKE: 1",
                        "READ_COUNTERS: []",
                        "READ_COUNTERS: token",
                        "LEAVE_QUARANTINE: 0",
                        "LEAVE_QUARANTINE: 1",
                        "LEAVE_QUARANTINE of a new master: 0",
                        "LEAVE_QUARANTINE of a new master: 1",
                        "LEAVE_QUARANTINE of a voter: 1");
    }

    @Test
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theModelAnswersAsAMasterDoesToThousandsOfSequences() {
        compare(FEW, MANY);
    }

    private void compare(int from, int to) {
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

    private void step(ServerComparison both, Random random) {
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
            case 13 -> {
                String mark = random.nextBoolean() ? "record" : "other";
                Object reply =
                        run(both, RedlockScript.RELEASE, " with a mark", List.of(lock.all()), attempt, "1", mark);
                if (reply instanceof List<?> values) {
                    outcomes.add("RELEASE of a queue entry: " + values.get(1));
                }
            }
            case 14 -> run(both, RedlockScript.RELEASE_AFTER, lock, attempt, millis(random), "", run);
            case 15 ->
                run(
                        both,
                        RedlockScript.RENEW,
                        "",
                        List.of(KEYS.state(), LOCKS.get(0).grant(), LOCKS.get(1).grant()),
                        run,
                        attempt,
                        round,
                        millis(random),
                        attempt,
                        "1",
                        millis(random));
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

    /** The client knows the start of the quarantine, unless its handshake is older than that. */
    private void quarantine(ServerComparison both, Random random, String run, String counter) {
        boolean isNew = random.nextBoolean();
        boolean votes = run.equals(both.command("HGET", KEYS.state(), "run"));
        String how = votes ? " of a voter" : isNew ? " of a new master" : "";
        String maxLease = random.nextInt(5) == 0 ? "0" : MAX_LEASE;
        List<?> state =
                (List<?>) Objects.requireNonNull(run(both, RedlockScript.HANDSHAKE, "", STATE, run, maxLease, "l*"));
        run(
                both,
                RedlockScript.LEAVE_QUARANTINE,
                how,
                STATE,
                run,
                String.valueOf((Long) state.get(2) - random.nextInt(2)),
                MAX_LEASE,
                flag(random),
                isNew ? "1" : "0",
                "l*",
                LOCKS.get(0).bucket(),
                counter);
        List<String> buckets = List.of(LOCKS.get(0).bucket(), LOCKS.get(1).bucket());
        run(both, RedlockScript.READ_COUNTERS, "", STATE, run, buckets.get(0), buckets.get(1));
    }

    /** A vote expires, the master loses its data, an operator frees the lock, or another application writes to the keys. */
    private void disturb(ServerComparison both, RedlockKeys.LockKeys lock, String attempt, Random random) {
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

    private void run(ServerComparison both, RedlockScript script, RedlockKeys.LockKeys lock, String... args) {
        run(both, script, "", List.of(lock.all()), args);
    }

    /** @param how completes the name of the script in {@link #outcomes} */
    private @Nullable Object run(
            ServerComparison both, RedlockScript script, String how, List<String> keys, String... args) {
        Object reply = both.script(script.name(), script.script().text(), keys, List.of(args));
        Object first = reply instanceof List<?> values && !values.isEmpty() ? values.get(0) : reply;
        boolean isToken = first instanceof Long number && number > 1;
        outcomes.add(script.name() + how + ": " + (isToken ? "token" : first));
        return reply;
    }
}
