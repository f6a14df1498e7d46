// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.LostVoteRecoveryPolicy;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The renewals of the grants of a {@link RedlockWorld}, as {@link RedlockRenewals} sends them and {@link RedlockContender} notes
 * what they find. Times are those of the masters' clock, which advances by half a lease in a step. Of all replies, only those to
 * renewals may be as late: the client has paused.
 */
final class RedlockRenewalModel {
    static final Duration LEASE = Duration.ofMillis(Long.parseLong(RedlockTraffic.LEASE_MILLIS));
    static final MonotonicInstant UNTIMED = new MonotonicInstant(0);
    private static final long HALF_LEASE = LEASE.toMillis() * 1_000 / 2;
    private static final int RENEWALS = 2; // the second one may find a vote that has expired
    private static final int HALF_LEASES = 3; // until a lease that was renewed at its half is over

    private final RedlockWorld world;
    int renewals;
    int halfLeases;

    RedlockRenewalModel(RedlockWorld world) {
        this.world = world;
    }

    /** Returns until when a grant is valid after a renewal. */
    interface Extension {
        MonotonicInstant extended(MonotonicInstant before, MonotonicInstant sent, MonotonicInstant now);
    }

    static MonotonicInstant extended(MonotonicInstant before, MonotonicInstant sent, MonotonicInstant now) {
        return now.isBefore(before) ? before.orLater(LockClock.deadline(sent, LEASE)) : before;
    }

    /**
     * A renewal of a grant.
     *
     * @param lost the masters that have lost its vote, which is requested again once the renewal has succeeded
     */
    record Renewal(MonotonicInstant sent, Answers answers, List<Integer> lost, boolean succeeded) {
        static final Renewal NONE =
                new Renewal(UNTIMED, new Answers(List.of(Answer.NONE, Answer.NONE, Answer.NONE)), List.of(), false);
    }

    /** The request of a renewal at one master. */
    record SendRenewal(int round) {}

    /**
     * What a request has shown about the vote at one master.
     *
     * @param at when it was sent if it has seen the vote, else when its reply came
     * @param voted whether the master was known to have voted in the round
     */
    record Sighting(boolean seen, MonotonicInstant at, boolean voted) {}

    /** Allows some renewals, where they are explored. */
    void start() {
        renewals = isTimed() ? RENEWALS : 0;
        halfLeases = isTimed() ? HALF_LEASES : 0;
    }

    private boolean isTimed() {
        return world.scope.has(Option.RENEWAL);
    }

    MonotonicInstant instant(long micros) {
        return isTimed() ? new MonotonicInstant((micros - RedlockWorld.START) * 1_000) : UNTIMED;
    }

    /** Returns the time of the masters' clock at an instant, in µs. */
    static long micros(MonotonicInstant instant) {
        return RedlockWorld.START + instant.nanos() / 1_000;
    }

    MonotonicInstant deadlineFromNow() {
        return isTimed() ? LockClock.deadline(instant(world.now), LEASE) : UNTIMED;
    }

    /** Returns whether half a lease may pass. */
    boolean mayPassHalfLease() {
        return halfLeases > 0
                && world.contenders.stream().anyMatch(each -> each.token != 0)
                && world.contenders.stream()
                        .allMatch(each ->
                                each.timers.isEmpty() && each.masters.stream().noneMatch(master -> master.removalDue))
                && world.masters.stream()
                        .flatMap(master -> master.links.stream())
                        .flatMap(link -> link.sent.stream())
                        .noneMatch(request -> request.awaited() && !(request.effect() instanceof SendRenewal));
    }

    void passHalfLease() {
        halfLeases--;
        world.now += HALF_LEASE;
        world.masters.forEach(master -> master.run(world.now, "EXISTS", RedlockMasterModel.KEYS.grant()));
        world.contenders.stream()
                .filter(each -> each.counts() && !instant(world.now).isBefore(each.validUntil))
                .forEach(RedlockContenderModel::passDeadline);
    }

    boolean mayRenew(RedlockContenderModel contender) {
        return renewals > 0 && contender.token != 0 && contender.renewal.answers.count(Answer.PENDING) == 0;
    }

    void renew(int c) {
        renewals--;
        RedlockContenderModel contender = world.contenders.get(c);
        contender.renewal = new Renewal(instant(world.now), Answers.pending(RedlockScope.MASTERS), List.of(), false);
        for (int m = 0; m < RedlockScope.MASTERS; m++) {
            Link link = world.link(m, c);
            if (link.eligible) {
                world.traffic.send(c, link, new SendRenewal(contender.protocol.round()));
            } else {
                answered(c, m, Answer.NONE);
            }
        }
    }

    /** Has a master execute a renewal. */
    Answer execute(int c, int m, int round) {
        RedlockMasterModel master = world.masters.get(m);
        boolean had = master.vote().startsWith(RedlockTraffic.vote(c, round));
        List<String> keys = List.of(RedlockMasterModel.KEYS.state(), RedlockMasterModel.KEYS.grant());
        List<String> args = List.of(
                master.runId(), RedlockTraffic.attemptId(c), String.valueOf(round), RedlockTraffic.LEASE_MILLIS);
        Object reply = world.run(m, RedlockScript.RENEW, keys, args).get(0);
        if (reply instanceof String) {
            world.link(m, c).eligible = false;
            return Answer.NONE;
        }
        if (reply.equals(1L) != had) {
            world.broken = Optional.of("S07: a renewal of contender " + c + " says " + reply + " of " + master.vote());
        }
        return reply.equals(1L) ? Answer.YES : Answer.NO;
    }

    void answered(int c, int m, Answer answer) {
        RedlockContenderModel contender = world.contenders.get(c);
        Renewal before = contender.renewal;
        List<Integer> lost = before.lost;
        if (answer == Answer.YES) {
            seen(c, m, before.sent);
        } else if (answer == Answer.NO && isLost(contender, m)) {
            lost = RedlockWorld.with(lost, m);
        }
        Answers answers = before.answers.with(m, answer);
        boolean decides = before.answers.result() == YesNoTally.Result.OPEN;
        if (decides && answers.result() == YesNoTally.Result.REJECTED) {
            contender.token = 0;
        }
        boolean succeeded = before.succeeded
                || (decides && answers.result() == YesNoTally.Result.ACCEPTED && extend(c, contender, before.sent));
        contender.renewal = new Renewal(before.sent, answers, succeeded ? List.of() : lost, succeeded);
        if (succeeded) {
            lost.forEach(each -> world.feed(c, new RedlockContenderEvent.VoteMissing(each)));
        }
    }

    /** Moves the deadline. Returns whether the grant is still valid. */
    private boolean extend(int c, RedlockContenderModel contender, MonotonicInstant sent) {
        MonotonicInstant now = instant(world.now);
        MonotonicInstant until = world.scope.variant().renewal().extended(contender.validUntil, sent, now);
        if (contender.overdue && now.isBefore(until)) {
            world.broken = Optional.of("S06: contender " + c + " holds a lost lease again");
        }
        contender.validUntil = until;
        return now.isBefore(until);
    }

    /** Notes that a request has found or created the vote. */
    void seen(int c, int m, MonotonicInstant sent) {
        RedlockContenderModel.AtMaster master = world.contenders.get(c).masters.get(m);
        master.sightings = RedlockWorld.with(master.sightings, new Sighting(true, sent, true));
    }

    /** Notes that the vote is missing. Returns whether it may be requested again, which production's policy decides. */
    private boolean isLost(RedlockContenderModel contender, int m) {
        RedlockContenderModel.AtMaster master = contender.masters.get(m);
        boolean voted = contender.protocol.votes().of(m) instanceof MasterVote.Granted;
        master.sightings = RedlockWorld.with(master.sightings, new Sighting(false, instant(world.now), voted));
        AtomicBoolean granted = new AtomicBoolean();
        LostVoteRecoveryPolicy policy =
                new LostVoteRecoveryPolicy(any -> granted.get(), RedlockScope.MASTERS, LEASE, contender.grantedUntil);
        boolean mayRecover = false;
        for (Sighting sighting : master.sightings) {
            granted.set(sighting.voted);
            if (sighting.seen) {
                policy.voteSeen(m, sighting.at);
            } else {
                mayRecover = policy.voteMissing(m, sighting.at);
            }
        }
        return mayRecover;
    }
}
