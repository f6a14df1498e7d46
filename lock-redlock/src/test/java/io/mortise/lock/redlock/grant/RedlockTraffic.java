// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendDelayedRelease;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.KeepFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.TokenStored;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Cleanup;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Found;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.grant.RedlockRenewalModel.SendRenewal;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
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
    static final String LEASE_MILLIS = "30000000";

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    private final RedlockWorld world;

    RedlockTraffic(RedlockWorld world) {
        this.world = world;
    }

    /**
     * A request that the master has not executed, and the effect that sent it, or a renewal.
     *
     * @param awaited whether its reply is awaited
     * @param again whether it was sent again, since the master did not know its script
     */
    record Request(int contender, Record effect, int epoch, long notAfter, boolean awaited, boolean again) {
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
        Link link = world.link(m, c);
        Execution notExecuted = new RedlockContenderEvent.NotExecuted();
        if (!link.eligible && effect instanceof SendAcquire acquire) {
            world.feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, false), notExecuted));
        } else if (!link.eligible && effect instanceof RedlockContenderEffect.SendToken token) {
            world.feed(c, new TokenStored(m, token.round(), Answer.NONE, world.time(c, RedlockWorld.SOON)));
        } else if (!link.eligible && effect instanceof SendDelayedRelease) {
            world.feed(c, new KeepFailed(m, "it does not vote"));
        } else if (!link.eligible && effect instanceof SendRecovery) {
            world.feed(c, new Recovered(m, notExecuted));
        } else {
            send(c, link, (Record) effect);
            if (effect instanceof SendDelayedRelease
                    || (effect instanceof SendRemoval removal && !removal.repeated())) {
                world.contenders.get(c).found(m, Found.ASKED);
            }
        }
    }

    void send(int c, Link link, Record effect) {
        Request request = new Request(c, effect, link.epoch, world.now + REQUEST_TIMEOUT, true, false);
        link.sent = RedlockWorld.with(link.sent, request);
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
        int epoch = request.again ? InDoubtRequests.OUT_OF_ORDER : request.epoch;
        Execution inDoubt = new RedlockContenderEvent.InDoubt(epoch, request.notAfter);
        if (request.effect instanceof SendAcquire acquire) {
            world.feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, true), inDoubt));
        } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
            world.feed(c, new TokenStored(m, token.round(), Answer.NONE, world.time(c, RedlockWorld.SOON)));
        } else if (request.effect instanceof RedlockContenderEffect.SendYield) {
            world.feed(c, new RedlockContenderEvent.YieldFailed(m));
        } else if (request.effect instanceof SendRemoval removal) {
            world.feed(c, new RedlockContenderEvent.RemovalFailed(m, removal.forCleanup(), NO_REPLY, at));
        } else if (request.effect instanceof SendDelayedRelease) {
            world.feed(c, new KeepFailed(m, "no reply"));
        } else if (request.effect instanceof SendRecovery) {
            world.feed(c, new Recovered(m, inDoubt));
        } else if (request.effect instanceof SendRenewal) {
            world.renewal.answered(c, m, Answer.NONE);
        } else { // a vote that is not kept is deleted in the background, until that has a reply
            send(c, (RedlockContenderEffect.AtMaster) request.effect);
        }
    }

    /** Replaces the connection by a new one, which wakes the contenders of the client that wait. */
    void loseConnection(int m, int client, MonotonicInstant at) {
        Link lost = world.masters.get(m).links.get(client);
        List<Request> unanswered = lost.sent;
        lost.sent = List.of();
        lost.epoch++;
        unanswered.stream().filter(request -> request.awaited).forEach(request -> fail(m, request, at));
        if (lost.eligible) {
            world.wakeWaiters(client);
        }
    }

    /** Has a master execute a request, and tells the contender if it gets the reply. */
    void execute(int m, Request request, boolean replied) {
        int c = request.contender;
        RedlockMasterModel master = world.masters.get(m);
        boolean isOfAnother = !master.vote().contains(attemptId(c));
        Optional<StoredValue> before = master.storedVote();
        if (request.effect instanceof SendRenewal renewal) {
            Answer answer = world.renewal.execute(c, m, renewal.round());
            if (replied) {
                world.renewal.answered(c, m, answer);
            }
        } else {
            Optional<RedlockContenderEvent> event = execute(m, c, request, replied);
            if (replied) {
                event.ifPresent(reply -> world.feed(c, reply));
            }
        }
        if (before.isPresent() && isOfAnother && !before.equals(master.storedVote())) {
            world.broken = Optional.of("S05: " + request + " of contender " + c + " changes the vote of another");
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
        } else if (request.effect instanceof SendRecovery send) {
            return Optional.of(recover(c, m, request, send, replied));
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
            world.link(m, c).eligible = false;
            return new KeepFailed(m, "it does not vote");
        }
        contender.found(m, had ? Found.VOTE : replied ? Found.NOTHING : Found.NOTHING_UNSEEN);
        contender.masters.get(m).kept |= had;
        return new RedlockContenderEvent.Kept(m, reply.get(0).equals(1L), request.epoch, (Long) reply.get(1));
    }

    private RedlockContenderEvent recover(int c, int m, Request request, SendRecovery send, boolean replied) {
        List<String> args = List.of(
                world.masters.get(m).runId(),
                RedlockMasterModel.KEYS.bucket(),
                attemptId(c),
                String.valueOf(send.token()),
                attemptId(c) + RECORD + ROUND + send.round(),
                LEASE_MILLIS,
                String.valueOf(request.notAfter));
        List<?> reply = world.run(m, RedlockScript.RECOVER_VOTE, args);
        if (reply.get(0).equals("quarantined")) {
            world.link(m, c).eligible = false;
        } else if (reply.get(0).equals(1L) && replied) {
            world.renewal.seen(c, m, world.renewal.instant(request.notAfter - REQUEST_TIMEOUT));
        }
        return new Recovered(m, VoteReplyHandler.execution(new ArrayList<>(reply), true, request.epoch));
    }

    private List<String> queueArgs(int c) {
        return List.of(RedlockMasterModel.channel("" + world.scope.clientOf(c)), String.valueOf(c), LEASE_MILLIS);
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
            String holder = String.valueOf(reply.get(2));
            Optional<RedlockContenderModel> orphaned = orphaned(holder);
            world.contenders.get(c).masters.get(m).orphanSeen = orphaned.isPresent();
            boolean isKnown = orphaned.filter(each -> each.masters.get(m).cleanup != Cleanup.NONE)
                    .isPresent();
            if (!isKnown || !world.scope.variant().knowsOrphans()) {
                vote = new MasterVote.Conflicted(holder, 0, 0);
            }
        } else {
            world.link(m, c).eligible = false;
        }
        return voted(c, acquire, vote, execution);
    }

    /** Returns the holder of a vote if it is an attempt of the same client that has ended. */
    private Optional<RedlockContenderModel> orphaned(String holder) {
        return Optional.of(holder)
                .filter(each -> world.scope.has(Option.ONE_CLIENT) && each.startsWith(ID_START))
                .map(each -> world.contenders.get(each.charAt(ID_START.length()) - '0'))
                .filter(each -> each.core == CorePhase.DONE);
    }
}
