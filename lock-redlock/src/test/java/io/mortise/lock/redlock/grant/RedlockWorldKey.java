// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Timer;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.grant.RedlockTraffic.Request;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The key of a {@link RedlockWorld}. Masters that differ in nothing are equal, and so are contenders that do not wait. Those that
 * wait differ in their queue positions.
 */
record RedlockWorldKey(RedlockWorld world) {
    /** The orders of contenders by which of them wait. */
    private static final Map<List<Boolean>, List<int[]>> ORDERS = new HashMap<>();

    /** The parts of texts in the store. */
    private static final Map<String, List<TextPart>> TEXT_PARTS = new HashMap<>();

    /** A part of a text, with the number of a round at its end if it has a contender. */
    private record TextPart(String text, int contender, int round) {}

    void describe(StateKey key) {
        key.number(world.now).number(world.highestToken).number(world.faults.left());
        key.flags(world.everHeld, world.expired);
        key.number(world.renewal.renewals).number(world.renewal.halfLeases);
        List<int[]> orders = ORDERS.computeIfAbsent(world.scope.waits(), waits -> orders(waits, List.of()));
        if (orders.size() == 1) {
            describe(key, orders.get(0));
        } else {
            key.leastOf(orders, order -> describe(key, order));
        }
    }

    /** Returns all orders in which those that do not wait are permuted. */
    private static List<int[]> orders(List<Boolean> waits, List<Integer> chosen) {
        if (chosen.size() == waits.size()) {
            return List.of(chosen.stream().mapToInt(each -> each).toArray());
        }
        boolean isFixed = waits.get(chosen.size());
        return IntStream.range(0, waits.size())
                .filter(c -> !chosen.contains(c) && (isFixed ? c == chosen.size() : !waits.get(c)))
                .boxed()
                .flatMap(c -> orders(
                        waits, Stream.concat(chosen.stream(), Stream.of(c)).toList())
                        .stream())
                .toList();
    }

    private void describe(StateKey key, int[] order) {
        for (int c : order) {
            RedlockContenderModel contender = world.contenders.get(c);
            RedlockContenderState protocol = contender.protocol;
            key.value("\ncontender").value(contender.core).flags(contender.woken, contender.gaveUp);
            for (Timer timer : Timer.values()) {
                key.flags(contender.timers.contains(timer));
            }
            key.flags(contender.delayed, contender.overdue, contender.displaced, contender.keptForGood);
            key.number(contender.token).value(protocol.phase().getClass());
            if (world.scope.has(Option.RENEWAL)) {
                key.number(micros(contender.validUntil)).number(micros(contender.grantedUntil));
                key.number(micros(contender.renewal.sent())).flags(contender.renewal.succeeded());
            }
            if (protocol.phase() instanceof RedlockContenderState.Ended ended) {
                key.flags(ended.notKept() != null);
            }
            if (protocol.phase() instanceof RedlockContenderState.StoringToken storing) {
                key.number(storing.token());
            }
            // Only attempts that do not wait count their split rounds.
            key.number(protocol.mayWait() ? Math.min(1, protocol.splitRounds()) : protocol.splitRounds());
            key.number(world.scope.rounds() < Integer.MAX_VALUE ? protocol.round() : 0);
        }
        key.unordered(IntStream.range(0, world.masters.size()).boxed().toList(), (into, m) -> describe(into, m, order));
    }

    private void describe(StateKey key, int m, int[] order) {
        RedlockMasterModel master = world.masters.get(m);
        key.value("\nmaster").number(master.run).flags(master.silent);
        if (master.forced != RedlockMasterModel.NOBODY) {
            key.participant(master.forced);
        }
        key.list(master.hints, StateKey::participant);
        new TreeMap<>(master.server.keys()).forEach((name, value) -> describe(key.value(name), value));
        for (int c : order) {
            describe(key, world.contenders.get(c), m);
            if (!world.scope.has(Option.ONE_CLIENT) || c == order[0]) {
                describe(key, world.link(m, c));
            }
        }
        key.value("\nlate").unordered(master.stray, this::describe);
    }

    private static void describe(StateKey key, RedlockContenderModel contender, int m) {
        RedlockContenderModel.AtMaster atMaster = contender.masters.get(m);
        RedlockContenderState protocol = contender.protocol;
        AttemptAtMaster attempt = protocol.masters().get(m);
        key.value("\nat").value(atMaster.cleanup).number(attempt.awaited());
        key.flags(
                atMaster.atRisk,
                atMaster.kept,
                atMaster.orphanSeen,
                atMaster.removalDue,
                attempt.voted(),
                attempt.queued(),
                attempt.mayKeep(),
                attempt.cleaning(),
                (protocol.hinting() & 1L << m) != 0);
        key.value(atMaster.found);
        key.list(
                atMaster.sightings,
                (into, each) -> into.flags(each.seen(), each.voted()).number(micros(each.at())));
        key.value(attempt.lost().anyLost() ? attempt.lost() : null);
        describe(key, protocol.votes(), protocol.votes().of(m));
        key.value(answer(protocol.phase(), m));
        key.value(contender.renewal.answers().of(m))
                .flags(contender.renewal.lost().contains(m));
    }

    private static long micros(MonotonicInstant instant) {
        return RedlockRenewalModel.micros(instant);
    }

    private void describe(StateKey key, Link link) {
        key.value("\nlink").number(link.epoch).number(link.since).flags(link.eligible, link.differs);
        key.list(link.sent, this::describe);
    }

    private void describe(StateKey key, StoredValue value) {
        boolean timed = world.scope.has(Option.RENEWAL);
        key.number(value.expiresAt().isEmpty() ? 0 : timed ? value.expiresAt().getAsLong() * 1_000 : 1);
        if (value instanceof StoredValue.Text text) {
            describe(key, text.text());
        } else if (value instanceof StoredValue.Hash hash) {
            key.number(hash.fields().size());
            hash.fields().forEach((field, text) -> describe(key.value(field), text));
        } else {
            Map<String, Double> scores = ((StoredValue.SortedSet) value).scores();
            key.list(
                    scores.entrySet(), (into, each) -> into.value(each.getKey()).value(each.getValue()));
        }
    }

    /** Describes a text in the store. Rounds count by their distance from the last round of their attempt. */
    private void describe(StateKey key, String text) {
        for (TextPart part : TEXT_PARTS.computeIfAbsent(text, RedlockWorldKey::parts)) {
            key.value(part.text);
            if (part.contender >= 0) {
                key.number(world.contenders.get(part.contender).protocol.round() - part.round);
            }
        }
    }

    private static List<TextPart> parts(String text) {
        List<TextPart> parts = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf(RedlockTraffic.ROUND); at >= 0; at = text.indexOf(RedlockTraffic.ROUND, from)) {
            int digits = at + RedlockTraffic.ROUND.length();
            int contender = text.charAt(text.lastIndexOf(RedlockTraffic.RECORD, at) - 1) - '0';
            int end = digits;
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
            parts.add(new TextPart(text.substring(from, digits), contender, Integer.parseInt(text, digits, end, 10)));
            from = end;
        }
        parts.add(new TextPart(text.substring(from), -1, 0));
        return List.copyOf(parts);
    }

    private static void describe(StateKey key, VoteTally votes, MasterVote vote) {
        key.value(vote.getClass());
        if (vote instanceof MasterVote.Granted granted) {
            key.number(granted.counter());
            key.flags(votes.lowestCounter() <= granted.counter() && granted.counter() <= votes.highestCounter());
        } else if (vote instanceof MasterVote.Conflicted conflict) {
            key.value(conflict.holder());
        } else if (vote instanceof MasterVote.Failed failed) {
            key.flags(failed.mayHaveGranted());
        }
    }

    private static @Nullable Answer answer(RedlockContenderState.Phase phase, int m) {
        Answers answers = phase instanceof RedlockContenderState.StoringToken storing
                ? storing.stored()
                : phase instanceof RedlockContenderState.Releasing releasing
                        ? releasing.held()
                        : phase instanceof RedlockContenderState.Delaying delaying ? delaying.kept() : null;
        return answers == null ? null : answers.of(m);
    }

    private void describe(StateKey key, Request request) {
        int round = world.contenders.get(request.contender()).protocol.round();
        Record effect = request.effect();
        key.participant(request.contender()).value(effect.getClass()).number(request.epoch());
        key.flags(request.awaited(), request.again());
        if (effect instanceof RedlockContenderEffect.SendAcquire send) {
            key.number(round - send.round()).flags(send.mayBeQueued()).number(send.tries());
            key.number(request.notAfter());
        } else if (effect instanceof RedlockContenderEffect.SendToken send) {
            key.number(round - send.round()).number(send.token());
        } else if (effect instanceof RedlockContenderEffect.SendYield send) {
            key.number(round - send.round()).flags(send.wakes());
        } else if (effect instanceof RedlockContenderEffect.SendRecovery) {
            key.number(request.notAfter());
        } else if (effect instanceof RedlockContenderEffect.SendRemoval send) {
            key.flags(send.forCleanup(), send.repeated(), send.withTime());
        }
    }
}
