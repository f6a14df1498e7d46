// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.ScriptInterpreter;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redlock.grant.RedlockTraffic.Request;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** One master of a {@link RedlockWorld}: its data, its connections, and what is on its way to it and from it. */
final class RedlockMasterModel {
    static final RedlockKeys.LockKeys KEYS = new RedlockKeys("").of(new LockName("x"));
    static final String FOREIGN = "foreign";
    static final String MAX_LEASE = "60000";
    static final String CHANNEL = "channel";
    static final int NOBODY = -1;

    /** Tokens have 16 digits, so that {@link StateKey} ranks them. */
    private static final long FIRST_TOKEN = 1_000_000_000_000_000L;

    private static final long FAR_MILLIS = 9_000_000_000_000L;
    private static final ScriptInterpreter LUA = new ScriptInterpreter();

    /** The same script is run with the same arguments in many worlds, which differ elsewhere. */
    private static final Map<Run, ScriptOutcome> RESULTS = new HashMap<>();

    final boolean silent; // it never votes
    private final boolean timed; // votes expire by the clock
    final List<Link> links = new ArrayList<>(); // of each client
    RedisModel server; // its data
    int run; // the number of times that it was restarted
    List<Request> stray = List.of(); // requests of lost connections
    List<Integer> hints = List.of(); // the contenders to which a hint is on its way
    int forced = NOBODY; // the contender that an operator is about to release here

    /** The result of a script, and the master's data afterwards, of which only timed votes expire by themselves. */
    private record ScriptOutcome(RedisModel.Result result, RedisModel server) {}

    private record Run(
            RedisModel server, long now, String script, List<String> keys, List<String> args, boolean timed) {}

    /** A connection of a client to a master. */
    static final class Link {
        int epoch = 1;
        boolean eligible; // whether the client knows that the master votes
        long since; // the start of the quarantine that the client knows; 0 if none
        boolean differs; // whether the master stores another maxLease than the client has
        List<Request> sent = List.of(); // in order

        Link(boolean eligible) {
            this.eligible = eligible;
        }

        Link(Link from) {
            epoch = from.epoch;
            eligible = from.eligible;
            since = from.since;
            differs = from.differs;
            sent = from.sent;
        }
    }

    /** The start of master m. */
    RedlockMasterModel(RedlockScope scope, int m) {
        silent = m < scope.silent();
        timed = scope.has(RedlockScope.Option.RENEWAL);
        Set<String> channels = new HashSet<>();
        for (int c = 0; c < scope.clients(); c++) {
            links.add(new Link(!silent && !scope.hasWrongMaxLease(c)));
            channels.add(channel("" + c));
        }
        server = RedisModel.EMPTY.withSubscribed(channels);
        if (!silent) {
            run(0, "HSET", KEYS.state(), "run", runId(), "maxLease", MAX_LEASE, KEYS.bucket(), "" + FIRST_TOKEN);
        }
        if (m >= RedlockScope.MASTERS - scope.foreign()) {
            run(0, "SET", KEYS.grant(), FOREIGN);
        }
    }

    RedlockMasterModel(RedlockMasterModel from) {
        silent = from.silent;
        timed = from.timed;
        from.links.forEach(link -> links.add(new Link(link)));
        server = from.server;
        run = from.run;
        stray = from.stray;
        hints = from.hints;
        forced = from.forced;
    }

    static String channel(String receiver) {
        return CHANNEL + receiver;
    }

    String runId() {
        return "run" + run;
    }

    Optional<StoredValue> storedVote() {
        return Optional.ofNullable(server.keys().get(KEYS.grant()));
    }

    /** Returns the vote that it stores; empty if there is none. */
    String vote() {
        return server.keys().get(KEYS.grant()) instanceof StoredValue.Text vote ? vote.text() : "";
    }

    boolean isForeign() {
        return vote().equals(FOREIGN);
    }

    boolean votes() {
        return server.keys().get(KEYS.state()) instanceof StoredValue.Hash state
                && runId().equals(state.fields().get("run"));
    }

    /** Returns whether nothing is on its way to it or from it. */
    boolean isQuiet() {
        return stray.isEmpty()
                && hints.isEmpty()
                && forced == NOBODY
                && links.stream().allMatch(link -> link.sent.isEmpty());
    }

    void run(long now, String... command) {
        server = server.run(now, command).next();
    }

    /** Runs a script. Returns its result, with the messages that it has published. */
    RedisModel.Result run(long now, String script, List<String> keys, List<String> args) {
        ScriptOutcome executed =
                RESULTS.computeIfAbsent(new Run(server, now, script, keys, args, timed), RedlockMasterModel::execute);
        server = executed.server;
        return executed.result;
    }

    private static ScriptOutcome execute(Run run) {
        RedisModel.Result result = LUA.run(run.server, run.now, run.script, run.keys, run.args);
        return new ScriptOutcome(result, sameExpiry(result.next(), run.timed));
    }

    /** No key but a timed vote expires by itself, but scripts see that it has an expiry. */
    private static RedisModel sameExpiry(RedisModel server, boolean timed) {
        Map<String, StoredValue> keys = new HashMap<>(server.keys());
        keys.replaceAll((key, value) -> value.expiresAt().isEmpty() || (timed && key.equals(KEYS.grant()))
                ? value
                : value.expiringAt(OptionalLong.of(FAR_MILLIS)));
        return new RedisModel(keys, server.subscribed());
    }
}
