// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendDelayedRelease;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.KeepFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.TokenStored;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Found;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The requests of the contenders of a {@link RedlockWorld} to its masters, and their outcomes. */
final class RedlockTraffic {
    static final long REQUEST_TIMEOUT = 2_000_000;
    static final Duration DELAY = Duration.ofMinutes(1);
    static final String ID_START = "a".repeat(31);
    static final String RECORD = " m1 record";
    static final String ROUND = " round=";
    private static final String LEASE_MILLIS = "30000000";

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    private final RedlockWorld world;

    RedlockTraffic(RedlockWorld world) {
        this.world = world;
    }

    /**
     * A request that the master has not executed, and the effect that sent it.
     *
     * @param awaited whether its reply is awaited
     * @param again whether it was sent again, since the master did not know its script
     */
    record Request(
            int contender,
            RedlockContenderEffect.AtMaster effect,
            int epoch,
            long notAfter,
            boolean awaited,
            boolean again) {
        Request givenUp() {
            return new Request(contender, effect, epoch, notAfter, false, again);
        }

        Request sentAgain() {
            return new Request(contender, effect, epoch, notAfter, awaited, true);
        }

        @Override
        public String toString() {
            return effect.getClass().getSimpleName();
        }
    }

    static String attemptId(int c) {
        return ID_START + c;
    }

    static String keptVote(int c) {
        return OwnerRecordCodec.KEPT_MARK + attemptId(c);
    }

    /** Returns the start of a vote of this round. */
    static String vote(int c, int round) {
        return attemptId(c) + RECORD + ROUND + round + " ";
    }

    void send(int c, RedlockContenderEffect.AtMaster effect) {
        int m = effect.master();
        Link link = world.masters.get(m).links.get(c);
        if (!link.eligible && effect instanceof SendAcquire acquire) {
            Execution execution = new RedlockContenderEvent.NotExecuted();
            world.feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, false), execution));
        } else if (!link.eligible && effect instanceof RedlockContenderEffect.SendToken token) {
            world.feed(c, new TokenStored(m, token.round(), Answer.NONE, world.time(c, RedlockWorld.SOON)));
        } else if (!link.eligible && effect instanceof SendDelayedRelease) {
            world.feed(c, new KeepFailed(m, "it does not vote"));
        } else {
            Request request = new Request(c, effect, link.epoch, world.now + REQUEST_TIMEOUT, true, false);
            link.sent = RedlockWorld.with(link.sent, request);
            if (effect instanceof SendDelayedRelease
                    || (effect instanceof SendRemoval removal && !removal.repeated())) {
                world.contenders.get(c).found(m, Found.ASKED);
            }
        }
    }

    /** After the last round, it is too late to repeat a round with split votes. */
    private RedlockContenderEvent.Voted voted(int c, SendAcquire acquire, MasterVote vote, Execution execution) {
        boolean isLast = acquire.round() >= world.scope.rounds();
        MonotonicInstant at = world.time(c, isLast ? RedlockWorld.LATER : RedlockWorld.SOON);
        return new RedlockContenderEvent.Voted(acquire.master(), acquire.round(), vote, execution, at);
    }

    /** Returns when these requests may fail: a release is repeated if that is soon. */
    static List<MonotonicInstant> failureTimes(List<Request> requests) {
        boolean mayBeRepeated = requests.stream()
                .anyMatch(request ->
                        request.effect instanceof SendRemoval removal && !removal.forCleanup() && !removal.repeated());
        return mayBeRepeated ? List.of(RedlockWorld.SOON, RedlockWorld.LATER) : List.of(RedlockWorld.LATER);
    }

    void fail(int m, Request request, MonotonicInstant at) {
        int c = request.contender;
        if (request.effect instanceof SendAcquire acquire) {
            int epoch = request.again ? InDoubtRequests.OUT_OF_ORDER : request.epoch;
            Execution inDoubt = new RedlockContenderEvent.InDoubt(epoch, request.notAfter);
            world.feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, true), inDoubt));
        } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
            world.feed(c, new TokenStored(m, token.round(), Answer.NONE, world.time(c, RedlockWorld.SOON)));
        } else if (request.effect instanceof RedlockContenderEffect.SendYield) {
            world.feed(c, new RedlockContenderEvent.YieldFailed(m));
        } else if (request.effect instanceof SendRemoval removal) {
            world.feed(c, new RedlockContenderEvent.RemovalFailed(m, removal.forCleanup(), NO_REPLY, at));
        } else if (request.effect instanceof SendDelayedRelease) {
            world.feed(c, new KeepFailed(m, "no reply"));
        } else {
            send(c, request.effect); // a vote that is not kept is deleted in the background, until that has a reply
        }
    }

    /** Replaces the connection by a new one, which wakes the contender if it waits. */
    void loseConnection(int m, int c, MonotonicInstant at) {
        Link lost = world.masters.get(m).links.get(c);
        List<Request> unanswered = lost.sent;
        lost.sent = List.of();
        lost.epoch++;
        unanswered.stream().filter(request -> request.awaited).forEach(request -> fail(m, request, at));
        if (lost.eligible) {
            world.contenders.get(c).wakeIfWaiting();
        }
    }

    /** Has a master execute a request, and tells the contender if it gets the reply. */
    void execute(int m, Request request, boolean replied) {
        Optional<RedlockContenderEvent> event = execute(m, request.contender, request, replied);
        if (replied) {
            event.ifPresent(reply -> world.feed(request.contender, reply));
        }
    }

    private Optional<RedlockContenderEvent> execute(int m, int c, Request request, boolean replied) {
        RedlockMasterModel master = world.masters.get(m);
        RedlockContenderModel contender = world.contenders.get(c);
        String bucket = RedlockMasterModel.KEYS.bucket();
        String id = attemptId(c);
        if (request.effect instanceof SendAcquire acquire) {
            List<String> args = new ArrayList<>(List.of(
                    master.runId(),
                    bucket,
                    id,
                    id + RECORD + ROUND + acquire.round(),
                    LEASE_MILLIS,
                    String.valueOf(request.notAfter),
                    acquire.mayBeQueued() ? "1" : "0"));
            if (contender.protocol.mayWait()) {
                args.addAll(queueArgs(c));
            }
            return Optional.of(voted(c, m, request, acquire, world.run(m, RedlockScript.ACQUIRE, args)));
        } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
            String round = String.valueOf(token.round());
            List<String> args = List.of(master.runId(), bucket, id, round, String.valueOf(token.token()));
            Object reply = world.run(m, RedlockScript.RAISE_TOKEN, args).get(0);
            Answer answer = reply instanceof String ? Answer.NONE : reply.equals(1L) ? Answer.YES : Answer.NO;
            return Optional.of(new TokenStored(m, token.round(), answer, world.time(c, RedlockWorld.SOON)));
        } else if (request.effect instanceof RedlockContenderEffect.SendYield yield) {
            List<String> args = new ArrayList<>(List.of(id, String.valueOf(yield.round()), yield.wakes() ? "1" : "0"));
            if (contender.protocol.mayWait()) {
                args.addAll(List.of(id + RECORD, LEASE_MILLIS));
                args.addAll(queueArgs(c));
            }
            world.run(m, RedlockScript.YIELD_VOTE, args);
            return Optional.empty();
        } else if (request.effect instanceof SendRemoval removal) {
            boolean seen = replied && !removal.repeated(); // an earlier try may have deleted the vote
            boolean had = master.vote().startsWith(id);
            contender.found(m, had ? Found.VOTE : seen ? Found.NOTHING : Found.NOTHING_UNSEEN);
            List<?> reply = world.run(m, RedlockScript.RELEASE, List.of(id, removal.withTime() ? "1" : "0"));
            return Optional.of(new RedlockContenderEvent.Removed(
                    m,
                    removal.forCleanup(),
                    removal.repeated(),
                    reply.get(0).equals(1L),
                    request.epoch,
                    reply.size() > 2 ? (Long) reply.get(2) : 0));
        } else if (request.effect instanceof SendDelayedRelease) {
            return Optional.of(keep(c, m, request, replied));
        }
        world.run(m, RedlockScript.RELEASE, List.of(keptVote(c), "0"));
        contender.masters.get(m).kept &= contender.keptForGood;
        return Optional.empty();
    }

    private RedlockContenderEvent keep(int c, int m, Request request, boolean replied) {
        RedlockMasterModel master = world.masters.get(m);
        RedlockContenderModel contender = world.contenders.get(c);
        boolean had = master.vote().startsWith(attemptId(c)) || master.vote().startsWith(keptVote(c));
        List<String> args = List.of(attemptId(c), String.valueOf(DELAY.toMillis()), "", master.runId());
        List<?> reply = world.run(m, RedlockScript.RELEASE_AFTER, args);
        if (reply.get(0) instanceof String) {
            master.links.get(c).eligible = false;
            return new KeepFailed(m, "it does not vote");
        }
        contender.found(m, had ? Found.VOTE : replied ? Found.NOTHING : Found.NOTHING_UNSEEN);
        contender.masters.get(m).kept |= had;
        return new RedlockContenderEvent.Kept(m, reply.get(0).equals(1L), request.epoch, (Long) reply.get(1));
    }

    private static List<String> queueArgs(int c) {
        return List.of(RedlockMasterModel.channel("" + c), String.valueOf(c), LEASE_MILLIS);
    }

    private RedlockContenderEvent voted(int c, int m, Request request, SendAcquire acquire, List<?> reply) {
        Execution execution = VoteReplyHandler.execution(new ArrayList<>(reply), true, request.epoch);
        MasterVote vote = new MasterVote.Failed(NO_REPLY, false);
        if (execution instanceof RedlockContenderEvent.Refused refused) {
            return new RedlockContenderEvent.CameTooLate(
                    m, acquire.round(), acquire.tries(), refused, vote, world.time(c, RedlockWorld.SOON));
        }
        if (reply.get(0) instanceof Long counter) {
            vote = new MasterVote.Granted(counter);
        } else if (reply.get(0).equals("busy")) {
            vote = new MasterVote.Conflicted(String.valueOf(reply.get(2)), 0, 0);
        } else {
            world.masters.get(m).links.get(c).eligible = false;
        }
        return voted(c, acquire, vote, execution);
    }
}
