// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.redis.ServerComparison;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /** The value of a grant, with its attempt and its token. */
    private static final Pattern GRANT = Pattern.compile("^~?([0-9a-f]{32}) .* token=(\\d+)");

    private static final String LIVE = "live";
    private static final String LIVE_SHARD = "{s}live-shard";
    private static final String DEAD = "dead";
    private static final List<RedisKeyLayout.OfLock> LOCKS = List.of(
            new RedisKeyLayout("lock:").of(new LockName("x")), new RedisKeyLayout("lock:").of(new LockName("y z")));

    /** The outcomes of the scripts so far: the first value of each kind of reply. */
    private final Set<String> outcomes = new TreeSet<>();

    @Test
    void theModelAnswersAsTheServerDoes() {
        compare(0, FEW);
        assertThat(outcomes)
                .contains(
                        "ACQUIRE: granted",
                        "ACQUIRE: token",
                        "ACQUIRE: busy",
                        "ACQUIRE: late",
                        "RELEASE: 0",
                        "RELEASE: 1",
                        "RELEASE with a mark: 0",
                        "RELEASE with a mark: 1",
                        "RELEASE_AFTER: 0",
                        "RELEASE_AFTER: 1",
                        "RELEASE_AFTER of a grant: 0",
                        "RELEASE_AFTER of a grant: 1",
                        "RENEW: 0",
                        "RENEW: 1",
                        "FORCE_RELEASE: 0",
                        "FORCE_RELEASE: 1");
    }

    @Test
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theModelAnswersAsTheServerDoesToThousandsOfSequences() {
        compare(FEW, MANY);
    }

    private void compare(int from, int to) {
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

    private void step(ServerComparison both, Random random) {
        RedisKeyLayout.OfLock lock = LOCKS.get(random.nextInt(5) == 0 ? 1 : 0);
        String attempt = attempt(random);
        switch (random.nextInt(14)) {
            case 0, 1, 2, 3, 4 ->
                run(
                        both,
                        RedisLockScript.ACQUIRE,
                        "",
                        lock,
                        attempt,
                        attempt + " record of " + attempt,
                        String.valueOf(ServerComparison.TTL_UNIT * (1 + random.nextInt(3))),
                        String.valueOf(both.micros() + (random.nextInt(10) == 0 ? -1 : 1_000_000)),
                        List.of("", LIVE, LIVE, LIVE_SHARD, DEAD, DEAD).get(random.nextInt(6)),
                        String.valueOf(ENTRY_MICROS / 1000),
                        "0f".repeat(16));
            case 5, 6, 7 -> run(both, RedisLockScript.RELEASE, "", lock, attempt, random.nextBoolean() ? "1" : "0");
            case 8 -> {
                String mark = random.nextBoolean() ? "record" : "other";
                run(both, RedisLockScript.RELEASE, " with a mark", lock, attempt, "1", mark);
            }
            case 9 -> {
                List<String> grants = List.of(LOCKS.get(0).grant(), LOCKS.get(1).grant());
                String unit = String.valueOf(ServerComparison.TTL_UNIT);
                String two = String.valueOf(2 * ServerComparison.TTL_UNIT);
                run(both, RedisLockScript.RENEW, "", grants, attempt, unit, attempt(random), two);
            }
            case 10 -> releaseAfter(both, lock, attempt, random);
            case 11 -> run(both, RedisLockScript.STATUS, "", lock);
            case 12 ->
                both.advance(
                        both.elapsed() < ENTRY_MICROS && random.nextInt(3) == 0
                                ? ENTRY_MICROS / 2
                                : List.of(1L, 400_000L, 1_100_000L).get(random.nextInt(3)));
            default -> disturb(both, lock, random);
        }
        both.advance(1 + random.nextInt(2)); // sometimes two requests are executed in the same millisecond
    }

    /** A delayed release of any grant of an attempt, of the present grant, kept or not, or of another one of its attempt. */
    private void releaseAfter(ServerComparison both, RedisKeyLayout.OfLock lock, String attempt, Random random) {
        String delay = String.valueOf(ServerComparison.TTL_UNIT);
        Matcher grant = GRANT.matcher(grant(both, lock));
        if (grant.find() && random.nextInt(3) > 0) {
            String token = random.nextInt(3) > 0 ? grant.group(2) : "1";
            run(both, RedisLockScript.RELEASE_AFTER, " of a grant", lock, grant.group(1), delay, token);
        } else {
            run(both, RedisLockScript.RELEASE_AFTER, "", lock, attempt, delay);
        }
    }

    /** The grant expires, an operator ends it, or another application writes to the keys. */
    private void disturb(ServerComparison both, RedisKeyLayout.OfLock lock, Random random) {
        switch (random.nextInt(8)) {
            case 0, 1 -> both.command("DEL", lock.grant());
            case 2 -> both.command("DEL", lock.queue());
            case 3 -> both.command("DEL", lock.entries());
            case 4 -> both.command("SET", lock.counter(), "1900000000000000");
            case 5 -> {
                both.command("DEL", lock.grant());
                both.command("HSET", lock.grant(), "of", "another");
            }
            case 6 -> run(both, RedisLockScript.FORCE_RELEASE, "", lock, "something else");
            default -> run(both, RedisLockScript.FORCE_RELEASE, "", lock, grant(both, lock));
        }
    }

    /** Returns the value of the grant; empty if there is none. */
    private static String grant(ServerComparison both, RedisKeyLayout.OfLock lock) {
        return both.command("GET", lock.grant()) instanceof String value ? value : "";
    }

    private void run(
            ServerComparison both, RedisLockScript script, String how, RedisKeyLayout.OfLock lock, String... args) {
        run(both, script, how, List.of(lock.all()), args);
    }

    /** @param how completes the name of the script in {@link #outcomes} */
    private void run(ServerComparison both, RedisLockScript script, String how, List<String> keys, String... args) {
        Object reply = both.script(script.name(), script.script().text(), keys, List.of(args));
        Object first = reply instanceof List<?> values && !values.isEmpty() ? values.get(0) : reply;
        boolean isToken = first instanceof Long number && number > 1;
        outcomes.add(script.name() + how + ": " + (isToken ? "token" : first));
    }

    private static String attempt(Random random) {
        return String.format("%032x", 10 + random.nextInt(6));
    }
}
