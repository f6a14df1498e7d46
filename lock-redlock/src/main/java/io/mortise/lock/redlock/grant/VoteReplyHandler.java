// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Executed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.util.List;
import java.util.function.Consumer;

/** Turns the outcome of one request that may create a vote into an event of its contender. */
abstract class VoteReplyHandler implements ReplyHandler {
    final ContenderServices services;
    final Consumer<RedlockContenderEvent> events;
    final RedlockMaster master;
    final MasterHandshakeReply voting;
    final MonotonicInstant sent;
    private final ServerTime notAfter;
    private volatile boolean sentAgain;

    /** Creates the handler just before its request is sent. */
    VoteReplyHandler(
            ContenderServices services,
            Consumer<RedlockContenderEvent> events,
            RedlockMaster master,
            MasterHandshakeReply voting) {
        this.services = services;
        this.events = events;
        this.master = master;
        this.voting = voting;
        this.sent = now();
        this.notAfter = voting.node().notAfter(sent);
    }

    final MonotonicInstant now() {
        return services.context().clock().now();
    }

    /** Returns the master's time in µs after which it refuses the request. */
    final long notAfter() {
        return notAfter.micros();
    }

    @Override
    public final void onSentAgain() {
        sentAgain = true;
    }

    /**
     * Returns what a reply shows about the execution of its request. One that came on another connection than that of the handshake
     * may come from another process, whose clock is another, and proves nothing about earlier requests.
     */
    static Execution execution(List<Object> reply, boolean isCurrent, int epoch) {
        Object first = reply.get(0);
        if (first.equals("late")) {
            return isCurrent ? new Refused(epoch, (Long) reply.get(1)) : new NotExecuted();
        }
        if (first.equals("quarantined")) {
            return new NotExecuted();
        }
        if (!isCurrent) {
            return new Executed(-1, ServerTime.UNKNOWN.micros(), false);
        }
        return first.equals("busy")
                ? new Executed(epoch, (Long) reply.get(4), true)
                : new Executed(epoch, ServerTime.UNKNOWN.micros(), false);
    }

    /** Returns what a reply shows about the execution of its request, and records the master's time in it. */
    final Execution execution(List<Object> reply) {
        Execution execution = execution(reply, voting.isCurrent(), voting.epoch());
        if (execution instanceof Refused refused) {
            voting.node().serverClock().onReply(sent, new ServerTime(refused.time()));
        } else if (execution instanceof Executed executed && executed.leftNoVote()) {
            voting.node().serverClock().onReply(sent, new ServerTime(executed.time()));
        }
        return execution;
    }

    /** Returns what is known of a request that had no reply, or an error. */
    final Execution unanswered(boolean notExecuted) {
        if (notExecuted) {
            return new NotExecuted();
        }
        services.quarantine().replyMissing(master, voting, sent);
        return new InDoubt(sentAgain ? InDoubtRequests.OUT_OF_ORDER : voting.epoch(), notAfter.micros());
    }
}
