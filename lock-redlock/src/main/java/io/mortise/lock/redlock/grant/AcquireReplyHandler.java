// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CameTooLate;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Voted;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.vote.MasterVote;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Turns the outcome of an acquire at one master into the master's vote. */
final class AcquireReplyHandler extends VoteReplyHandler {
    private final SendAcquire send;
    private final Supplier<String> what;

    AcquireReplyHandler(
            ContenderServices services,
            Consumer<RedlockContenderEvent> events,
            RedlockMaster master,
            MasterHandshakeReply voting,
            SendAcquire send,
            Supplier<String> what) {
        super(services, events, master, voting);
        this.send = send;
        this.what = what;
    }

    @Override
    public void onReply(List<Object> reply) {
        master.health().replyReceived();
        Execution execution = execution(reply);
        if (!voting.isCurrent()) { // the reply may come from another connection, and so from another process
            voted(master.abstention(true), execution);
        } else if (reply.get(0) instanceof Long counter) {
            voted(new MasterVote.Granted(counter), execution);
        } else if (reply.get(0).equals("busy")) {
            voted(conflict((String) reply.get(2), (Long) reply.get(1), (Long) reply.get(3)), execution);
        } else if (execution instanceof Refused refused) {
            MasterVote vote = failed(
                    new BackendUnavailableException("the request arrived too late, or the server's clock jumped"),
                    false);
            events.accept(new CameTooLate(send.master(), send.round(), send.tries(), refused, vote, now()));
        } else {
            services.quarantine().enterQuarantine(master, voting);
            voted(master.abstention(false), execution);
        }
    }

    @Override
    public void onFailure(Throwable cause, boolean notExecuted) {
        LockException failure = RedisErrors.of(cause, what.get(), voting.node().endpoints());
        voted(failed(failure, !notExecuted), unanswered(notExecuted));
    }

    private void voted(MasterVote vote, Execution execution) {
        events.accept(new Voted(send.master(), send.round(), vote, execution, now()));
    }

    private static MasterVote failed(LockException cause, boolean mayHaveGranted) {
        return new MasterVote.Failed(cause, mayHaveGranted);
    }

    /** Returns a failed vote, not a conflict, if the master still stores an orphaned grant of this client (S15). */
    private MasterVote conflict(String holder, long remainingMillis, long queuedBefore) {
        return master.cleanupBacklog().contains(holder)
                ? failed(
                        new BackendUnavailableException(
                                "the cleanup of an earlier attempt of this client is pending there"),
                        false)
                : new MasterVote.Conflicted(holder, remainingMillis, queuedBefore);
    }
}
