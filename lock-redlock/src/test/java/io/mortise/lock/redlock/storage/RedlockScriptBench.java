// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import io.mortise.lock.servers.redis.RedisScriptFixture;
import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;

/** Runs single Lua scripts on one master, which votes after {@link #leaveQuarantine} was called. */
public final class RedlockScriptBench extends RedisScriptFixture {
    static final RedlockKeys.LockKeys KEYS = new RedlockKeys("lock:").of(new LockName("x"));
    static final String STATE = KEYS.state();
    static final String RUN = "run-id";
    static final long LEASE_MILLIS = 60_000;
    static final String MAX_LEASE = "60000";
    static final long QUEUE_ENTRY_TTL_MILLIS = 20_000;

    /** Same value as in queue_entries.lua. */
    private static final long WAKE_MICROS = 1_000_000;

    List<?> run(RedlockScript script, String... args) {
        return eval(script.script().text(), List.of(KEYS.all()), args);
    }

    List<?> onState(RedlockScript script, String... args) {
        return eval(script.script().text(), List.of(STATE), args);
    }

    /** Lets the master enter quarantine, and then vote from now on, as a new one may. */
    List<?> leaveQuarantine(String run, String raiseToClock, String... counters) {
        redis().call("HDEL", STATE, "run");
        List<?> reply = onState(RedlockScript.HANDSHAKE, run, "0", "*");
        List<String> args =
                new ArrayList<>(List.of(run, String.valueOf(reply.get(2)), MAX_LEASE, raiseToClock, "1", "*"));
        args.addAll(List.of(counters));
        return onState(RedlockScript.LEAVE_QUARANTINE, args.toArray(String[]::new));
    }

    void leaveQuarantine() {
        leaveQuarantine(RUN, "0");
    }

    /** Acquires without waiting. */
    List<?> tryAcquire(int number) {
        return acquire(RUN, number, micros() + 5_000_000, false);
    }

    /** Acquires with a queue entry for that channel, in the order of the numbers. */
    List<?> acquire(int number, String channel) {
        return acquire(RUN, number, micros() + 5_000_000, false, waiting(number, channel));
    }

    /** Acquires in the first round without waiting, or in a later one. */
    List<?> acquireInRound(int round, int number) {
        return acquire(RUN, number, round, micros() + 5_000_000, false);
    }

    List<?> acquire(String run, int number, long notAfter, boolean mayBeQueued, String... waiting) {
        return acquire(run, number, 1, notAfter, mayBeQueued, waiting);
    }

    private List<?> acquire(String run, int number, int round, long notAfter, boolean mayBeQueued, String... waiting) {
        List<String> args = new ArrayList<>(List.of(
                run,
                KEYS.bucket(),
                attempt(number),
                vote(number, round),
                String.valueOf(LEASE_MILLIS),
                String.valueOf(notAfter),
                mayBeQueued ? "1" : "0"));
        args.addAll(List.of(waiting));
        return run(RedlockScript.ACQUIRE, args.toArray(String[]::new));
    }

    static String[] waiting(int number, String channel) {
        return new String[] {channel, String.valueOf(number), String.valueOf(QUEUE_ENTRY_TTL_MILLIS)};
    }

    /** Returns the vote of a round without its token. */
    static String vote(int number, int round) {
        return record(number) + " round=" + round;
    }

    List<?> raiseToken(int number, long token) {
        return run(RedlockScript.RAISE_TOKEN, RUN, KEYS.bucket(), attempt(number), "1", String.valueOf(token));
    }

    /** Yields the vote of an attempt that does not wait, in the first round. */
    List<?> yieldVote(int number) {
        return yieldRound(1, number, false);
    }

    List<?> yieldRound(int round, int number, boolean wakes) {
        return run(RedlockScript.YIELD_VOTE, attempt(number), String.valueOf(round), wakes ? "1" : "0");
    }

    /** Yields the vote of an attempt that waits. */
    List<?> yieldVote(int number, String channel) {
        String lease = String.valueOf(LEASE_MILLIS);
        String[] waiting = waiting(number, channel);
        return run(
                RedlockScript.YIELD_VOTE,
                attempt(number),
                "1",
                "0",
                record(number),
                lease,
                waiting[0],
                waiting[1],
                waiting[2]);
    }

    List<?> release(int number) {
        return run(RedlockScript.RELEASE, attempt(number), "1");
    }

    /** Lets the queue entry of an attempt expire. */
    void timeOut(int number) {
        String entry = String.valueOf(redis().call("HGET", KEYS.entries(), attempt(number)));
        redis().call("HSET", KEYS.entries(), attempt(number), entry.replaceFirst("^(\\S+ \\d+) \\d+ ", "$1 1 "));
    }

    /** Pretends that an attempt was woken so long ago that it should have sent its request. */
    void wokenLongAgo(int number) {
        redis().call("HSET", KEYS.entries(), "wake", attempt(number) + " " + (micros() - WAKE_MICROS - 1));
    }

    Object queue() {
        return String.valueOf(redis().call("ZRANGE", KEYS.queue(), "0", "-1"));
    }

    /** Returns the attempt ids as {@link #queue} shows them. */
    static String attempts(int... numbers) {
        List<String> ids = new ArrayList<>();
        for (int number : numbers) {
            ids.add(attempt(number));
        }
        return ids.toString();
    }

    String value() {
        return String.valueOf(redis().call("GET", KEYS.grant()));
    }

    String counter() {
        return String.valueOf(redis().call("HGET", STATE, KEYS.bucket()));
    }

    long remainingMillis(String key) {
        return Long.parseLong(String.valueOf(redis().call("PTTL", key)));
    }

    /** Returns the message to a queued attempt as {@link #published} shows it. */
    static String hint(String channel, int number) {
        return channel + " W " + attempt(number) + " " + KEYS.grant();
    }
}
