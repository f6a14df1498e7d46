// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.redis.ServerComparison;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the model of Redis, which the exploration uses, answers as a real server does: random calls of every script. */
@Tag("once")
class RedisModelTest {
    private static final int FEW = 300;
    private static final int MANY = 3_000;
    private static final int STEPS = 40;
    /** Lifetime of a queue entry; twice of it is a multiple of the unit. */
    private static final long ENTRY_MICROS = ServerComparison.TTL_UNIT * 1000 / 2;

    private static final String LIVE = "live";
    private static final String LIVE_SHARD = "{s}live-shard";
    private static final String DEAD = "dead";
    private static final List<RedisKeyLayout.OfLock> LOCKS = List.of(
            new RedisKeyLayout("lock:").of(new LockName("x")), new RedisKeyLayout("lock:").of(new LockName("y z")));

    @Test
    void theModelAnswersAsTheServerDoes() {
        compare(0, FEW);
    }

    @Test
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theModelAnswersAsTheServerDoesToThousandsOfSequences() {
        compare(FEW, MANY);
    }

    private static void compare(int from, int to) {
        try (ScriptFixture server = new ScriptFixture();
                RawRedis shardSubscriber = server.server().connect();
                ServerComparison both = new ServerComparison(server.redis::call, Set.of(LIVE, LIVE_SHARD))) {
            server.listen(LIVE);
            shardSubscriber.call("SSUBSCRIBE", LIVE_SHARD.substring("{s}".length()));
            for (int seed = from; seed < to; seed++) {
                Random random = new Random(seed);
                both.restart();
                for (int step = 0; step < STEPS; step++) {
                    step(both, random);
                }
                both.compareKeys();
            }
        }
    }

    private static void step(ServerComparison both, Random random) {
        RedisKeyLayout.OfLock lock = LOCKS.get(random.nextInt(5) == 0 ? 1 : 0);
        String attempt = attempt(random);
        switch (random.nextInt(14)) {
            case 0, 1, 2, 3, 4 ->
                run(
                        both,
                        RedisLockScript.ACQUIRE,
                        lock,
                        attempt,
                        attempt + " record of " + attempt,
                        String.valueOf(ServerComparison.TTL_UNIT * (1 + random.nextInt(3))),
                        String.valueOf(both.micros() + (random.nextInt(10) == 0 ? -1 : 1_000_000)),
                        List.of("", LIVE, LIVE, LIVE_SHARD, DEAD, DEAD).get(random.nextInt(6)),
                        String.valueOf(ENTRY_MICROS / 1000),
                        "0f".repeat(16));
            case 5, 6, 7 -> run(both, RedisLockScript.RELEASE, lock, attempt, random.nextBoolean() ? "1" : "0");
            case 8 -> run(both, RedisLockScript.RELEASE, lock, attempt, "1", random.nextBoolean() ? "record" : "other");
            case 9 ->
                both.script(
                        "RENEW",
                        RedisLockScript.RENEW.script().text(),
                        List.of(LOCKS.get(0).grant(), LOCKS.get(1).grant()),
                        List.of(
                                attempt,
                                String.valueOf(ServerComparison.TTL_UNIT),
                                attempt(random),
                                String.valueOf(2 * ServerComparison.TTL_UNIT)));
            case 10 ->
                run(both, RedisLockScript.RELEASE_AFTER, lock, attempt, String.valueOf(ServerComparison.TTL_UNIT));
            case 11 -> run(both, RedisLockScript.STATUS, lock);
            case 12 ->
                both.advance(
                        both.elapsed() < ENTRY_MICROS && random.nextInt(3) == 0
                                ? ENTRY_MICROS / 2
                                : List.of(1L, 400_000L, 1_100_000L).get(random.nextInt(3)));
            default -> disturb(both, lock, random);
        }
        both.advance(1 + random.nextInt(2)); // sometimes two requests are executed in the same millisecond
    }

    /** The grant expires, an operator deletes it, or another application writes to the keys. */
    private static void disturb(ServerComparison both, RedisKeyLayout.OfLock lock, Random random) {
        switch (random.nextInt(7)) {
            case 0, 1 -> both.command("DEL", lock.grant());
            case 2 -> both.command("DEL", lock.queue());
            case 3 -> both.command("DEL", lock.entries());
            case 4 -> both.command("SET", lock.counter(), "1900000000000000");
            case 5 -> {
                both.command("DEL", lock.grant());
                both.command("HSET", lock.grant(), "of", "another");
            }
            default -> run(both, RedisLockScript.FORCE_RELEASE, lock, "something else");
        }
    }

    private static void run(ServerComparison both, RedisLockScript script, RedisKeyLayout.OfLock lock, String... args) {
        both.script(script.name(), script.script().text(), List.of(lock.all()), List.of(args));
    }

    private static String attempt(Random random) {
        return String.format("%032x", 10 + random.nextInt(6));
    }
}
