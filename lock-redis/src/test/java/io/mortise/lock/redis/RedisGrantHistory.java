// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The grants of the store of a {@link RedisWorld}, and how each ended. The exploration judges by it what a request did,
 * and what a contender believes. An immutable value.
 *
 * @param present the grant in the store; null if there is none
 * @param ended grants of which a contender may still be told, and that ended without a request of it
 * @param highestToken the highest token so far
 * @param broken the rule that a request has broken
 */
record RedisGrantHistory(@Nullable Grant present, List<Ended> ended, long highestToken, Optional<String> broken) {
    static final RedisKeyLayout.OfLock KEYS = new RedisKeyLayout("").of(new LockName("x"));
    static final RedisGrantHistory NONE = new RedisGrantHistory(null, List.of(), 0, Optional.empty());

    /** The digits that all attempt ids begin with; one digit follows. */
    static final String ID_START = "a".repeat(31);

    private static final String TOKEN = " token=";

    /** @param kept whether the store keeps it for the delay of a release */
    record Grant(int contender, long token, boolean kept) {}

    record Ended(int contender, long token, Cause cause) {}

    /** Why a grant ended without a request of its contender. */
    enum Cause {
        /** Its time was over. A client computes from each reply and message until when it may believe. */
        EXPIRY,
        /** An operator ended it. A client that is told of the grant cannot know that. */
        UNNOTICED,
        /** The store lost it. A client that is told of the grant on the connection to the store before cannot know that. */
        DATA_LOSS
    }

    /** Whether a client that is told of a grant believes that it holds the lock. */
    enum Belief {
        RIGHT,
        REFUSED,
        /** It believes, until it renews: the store has lost the grant. */
        OUTDATED,
        WRONG
    }

    static String attemptId(int contender) {
        return ID_START + contender;
    }

    static int contender(String attemptId) {
        return attemptId.charAt(ID_START.length()) - '0';
    }

    private static @Nullable Grant grantIn(RedisModel server) {
        if (!(server.keys().get(KEYS.grant()) instanceof StoredValue.Text grant)) {
            return null;
        }
        boolean kept = grant.text().startsWith(OwnerRecordCodec.KEPT_MARK);
        String value = grant.text().substring(kept ? OwnerRecordCodec.KEPT_MARK.length() : 0);
        int from = value.indexOf(TOKEN) + TOKEN.length();
        int to = value.indexOf(' ', from);
        return new Grant(contender(value), Long.parseLong(value, from, to < 0 ? value.length() : to, 10), kept);
    }

    /** Returns the attempts in the queue in their order. */
    static Stream<Integer> queueIn(RedisModel server) {
        if (!(server.keys().get(KEYS.queue()) instanceof StoredValue.SortedSet queue)) {
            return Stream.of();
        }
        return queue.scores().entrySet().stream()
                .sorted(Comparator.comparing(Map.Entry<String, Double>::getValue)
                        .thenComparing(Map.Entry::getKey))
                .map(member -> contender(member.getKey()));
    }

    /** Returns the ids of the attempts in the queue. */
    static Set<String> queuedIn(RedisModel server) {
        return server.keys().get(KEYS.queue()) instanceof StoredValue.SortedSet queue
                ? queue.scores().keySet()
                : Set.of();
    }

    /** Returns the ids of the attempts that have an entry, and other fields beside them. */
    static Set<String> entriesIn(RedisModel server) {
        return server.keys().get(KEYS.entries()) instanceof StoredValue.Hash entries
                ? entries.fields().keySet()
                : Set.of();
    }

    /** Returns whether the store has a grant or a queue entry of the contender. */
    boolean isStored(int contender, RedisModel server) {
        return isGrantedTo(contender) || queuedIn(server).contains(attemptId(contender));
    }

    boolean isGrantedTo(int contender) {
        return present != null && present.contender == contender && !present.kept;
    }

    /** Returns whether the present grant, kept or not, is the one that a delayed release is about. */
    boolean isNamedBy(RedisClientModel.Request request) {
        return present != null && present.contender == request.contender() && present.token == request.token();
    }

    /** Returns whether the store has lost a grant with the rest of its data. */
    boolean isLost(int contender, long token) {
        return ended.contains(new Ended(contender, token, Cause.DATA_LOSS));
    }

    boolean isKept() {
        return present != null && present.kept;
    }

    /**
     * Returns the history after the store has executed a request.
     *
     * @param before the store before the request
     * @param after the store after it
     * @param delayed when a grant expires, in ms of the store's clock, if a delayed release keeps it now
     * @param live returns whether a contender can receive messages
     */
    RedisGrantHistory executed(
            RedisClientModel.Request request,
            RedisModel before,
            RedisModel after,
            long delayed,
            Predicate<Integer> live) {
        Grant next = grantIn(after);
        OptionalLong expiry = expiryOfGrant(after);
        if (Objects.equals(present, next)) {
            return next != null && !isGrantedTo(request.contender()) && !expiry.equals(expiryOfGrant(before))
                    ? with(next, ended, "S05: " + request + " changes the expiry of " + next)
                    : this;
        }
        if (request.script() == RedisClientModel.Script.RENEWAL) {
            return with(next, ended, "S06: " + request + " changes " + present + " to " + next);
        }
        if (present != null) {
            boolean delayedRight = new Grant(present.contender, present.token, true).equals(next)
                    && expiry.equals(OptionalLong.of(delayed));
            boolean endedRight = next == null || next.token != present.token;
            boolean keeps = request.script() == RedisClientModel.Script.DELAYED_RELEASE && isNamedBy(request);
            boolean right = isGrantedTo(request.contender())
                    && request.script() != RedisClientModel.Script.ACQUIRE
                    && (keeps ? delayedRight : endedRight);
            if (!right) {
                return with(next, ended, "S05: " + request + " changes " + present + " to " + next);
            }
        }
        return granted(next, request, before, live);
    }

    private static OptionalLong expiryOfGrant(RedisModel server) {
        StoredValue grant = server.keys().get(KEYS.grant());
        return grant == null ? OptionalLong.empty() : grant.expiresAt();
    }

    private RedisGrantHistory granted(
            @Nullable Grant next, RedisClientModel.Request request, RedisModel before, Predicate<Integer> live) {
        if (next == null || next.kept) {
            return with(next, ended, "");
        }
        Optional<Integer> first = queueIn(before)
                .filter(each -> each == request.contender()
                        ? request.script() == RedisClientModel.Script.ACQUIRE
                        : live.test(each))
                .findFirst();
        if (first.isPresent() && first.get() != next.contender) {
            return with(next, ended, "S12: the store has " + next + ", and contender " + first.get() + " comes first");
        }
        return with(next, ended, next.token > highestToken ? "" : "S03: " + next + " after " + highestToken);
    }

    /** Returns the history after a grant has ended by something else than a request of its contender. */
    RedisGrantHistory ended(Cause cause, boolean mayBeTold, RedisModel after) {
        Grant old = Objects.requireNonNull(present);
        List<Ended> more = mayBeTold && !old.kept
                ? Stream.concat(ended.stream(), Stream.of(new Ended(old.contender, old.token, cause)))
                        .toList()
                : ended;
        Grant next = grantIn(after);
        return with(next, more, next == null || next.token > highestToken ? "" : "S03: " + next);
    }

    private RedisGrantHistory with(@Nullable Grant next, List<Ended> newEnded, String rule) {
        return new RedisGrantHistory(
                next,
                newEnded,
                next == null ? highestToken : Math.max(highestToken, next.token),
                rule.isEmpty() ? broken : Optional.of(rule));
    }

    /** Returns the history after the contender was told that it does not hold the lock: no older grant may be believed. */
    RedisGrantHistory busy(int contender) {
        return withoutEnded(each -> each.contender == contender && each.cause != Cause.EXPIRY);
    }

    /** Returns the history after the contender has stopped to wait for a grant. */
    RedisGrantHistory forget(int contender) {
        return withoutEnded(each -> each.contender == contender);
    }

    private RedisGrantHistory withoutEnded(Predicate<Ended> which) {
        return ended.stream().noneMatch(which)
                ? this
                : with(present, ended.stream().filter(which.negate()).toList(), "");
    }

    Belief beliefIn(int contender, long token) {
        if (new Grant(contender, token, false).equals(present)) {
            return Belief.RIGHT;
        }
        return ended.stream()
                .filter(each -> each.contender == contender && each.token == token)
                .findFirst()
                .map(each -> each.cause == Cause.EXPIRY ? Belief.REFUSED : Belief.OUTDATED)
                .orElse(Belief.WRONG);
    }
}
