// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.TransactionParts;
import io.mortise.lock.spi.LockRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Transactions by which a contender joins the lock's queue, until its outcome is known. What that means is the {@link
 * EtcdContender}'s business. The position of the contender is known here also when a step fails.
 */
final class AcquireTransactions {
    private static final int MOST_ROUNDS = 20;

    private final EtcdRequests calls;
    private final LockRequest request;
    private final ByteSequence record;
    private final EtcdInDoubtAcquires unanswered = new EtcdInDoubtAcquires();
    private volatile @Nullable EtcdQueueEntry position;

    /** What the store has of it. */
    enum Finding {
        /** Its key is the oldest: the lock is its own. */
        FIRST,

        /** Its key is there, behind others. */
        BEHIND,

        /** A try found others ahead. Its key was taken away, or goes with the contender. */
        BUSY,

        /** Its key was there, and was deleted. */
        KEY_GONE,

        /** Whatever it had goes with the session. */
        SESSION_OVER
    }

    /**
     * The end of the steps.
     *
     * @param contenders as many were seen in the queue, with itself; 0 if that was not asked
     */
    record Standing(Finding finding, EtcdQueueEntry at, long contenders) {}

    private interface Step {
        CompletionStage<Standing> after(TxnResponse answer);
    }

    AcquireTransactions(EtcdRequests calls, LockRequest request) {
        this.calls = calls;
        this.request = request;
        this.record = EtcdKeyLayout.bytes(request.ownerRecord());
    }

    /** The value of its key, which no other has. */
    ByteSequence record() {
        return record;
    }

    /** What may yet be executed, or may have been. */
    EtcdInDoubtAcquires unanswered() {
        return unanswered;
    }

    /** Null before it has a position in a queue. */
    @Nullable
    EtcdQueueEntry position() {
        return position;
    }

    /** It has a slot in a queue. Once, before {@link #go}. */
    void enter(EtcdQueueEntry at) {
        position = at;
    }

    /**
     * Goes on from the present position.
     *
     * @return failed: it is unknown what the store has of it
     */
    CompletionStage<Standing> go() {
        EtcdQueueEntry at = position;
        if (at == null) {
            throw new IllegalStateException("it has no position in the queue");
        }
        return from(at, MOST_ROUNDS);
    }

    private CompletionStage<Standing> from(EtcdQueueEntry at, int rounds) {
        if (at.on().hasEnded()) {
            return done(Finding.SESSION_OVER, at, 0);
        }
        if (rounds == 0) {
            throw new BackendUnavailableException(what() + ": what is in the store changes too fast");
        }
        return at.since() == 0 ? put(at, rounds) : confirm(at, rounds);
    }

    /**
     * One request: the key, and how many are in the queue with it. Who does so already is ahead of it. A try, which must know whom
     * it gives way to, reads who is first instead.
     */
    private CompletionStage<Standing> put(EtcdQueueEntry at, int rounds) {
        long epoch = at.on().epoch();
        if (!unanswered.sending(epoch)) {
            return CompletableFuture.failedFuture(new BackendUnavailableException(what() + ": withdrawn"));
        }
        Cmp[] absentInEpoch = {
            TransactionParts.isAbsent(at.key()),
            TransactionParts.isInEpoch(at.on().sessionKey(), epoch)
        };
        Op[] putAndLook = {
            TransactionParts.put(at.key(), record, at.on().lease()),
            request.mayWait() ? at.queue().count() : at.queue().head()
        };
        return then(
                at,
                calls.txn(what(), absentInEpoch, putAndLook)
                        .whenComplete((answer, failure) -> unanswered.sent(failure)),
                answer -> answer.isSucceeded() ? queued(at, answer, rounds) : readPosition(at, rounds));
    }

    private CompletionStage<Standing> queued(EtcdQueueEntry at, TxnResponse answer, int rounds) {
        EtcdQueueEntry now = at.since(answer.getHeader().getRevision());
        GetResponse queue = answer.getGetResponses().get(0);
        return request.mayWait() ? queued(now, queue.getCount() <= 1, queue) : evaluate(now, queue, rounds);
    }

    /** The key was there already, or a withdrawal has begun a new epoch: rare enough for a request of its own. */
    private CompletionStage<Standing> readPosition(EtcdQueueEntry at, int rounds) {
        Op[] reads = {
            TransactionParts.get(at.key()),
            TransactionParts.getWithoutValue(at.on().sessionKey()),
            at.queue().head()
        };
        return then(at, calls.txn(what(), new Cmp[0], reads), answer -> notPut(at, answer.getGetResponses(), rounds));
    }

    private CompletionStage<Standing> notPut(EtcdQueueEntry at, List<GetResponse> reads, int rounds) {
        List<KeyValue> session = reads.get(1).getKvs();
        if (session.isEmpty()) {
            at.on().end("its key was deleted");
            return done(Finding.SESSION_OVER, at, 0);
        }
        at.on().sawEpoch(session.get(0).getVersion());
        List<KeyValue> own = reads.get(0).getKvs();
        if (own.isEmpty()) {
            return from(at, rounds - 1);
        }
        if (own.get(0).getValue().equals(record)) {
            // An earlier one was executed.
            return evaluate(at.since(own.get(0).getCreateRevision()), reads.get(2), rounds);
        }
        EtcdQueueEntry elsewhere = at.inSlot(at.queue().another());
        position = elsewhere;
        return from(elsewhere, rounds - 1);
    }

    /** The woken waiter's one request: the grant is what the store says, not what an event made us believe. */
    private CompletionStage<Standing> confirm(EtcdQueueEntry at, int rounds) {
        Cmp[] standing = {TransactionParts.isFrom(at.key(), at.since())};
        return then(
                at,
                calls.txn(what(), standing, new Op[] {at.queue().ahead(at.since())}),
                answer -> answer.isSucceeded()
                        ? evaluate(at, answer.getGetResponses().get(0), rounds)
                        : done(Finding.KEY_GONE, at, 0));
    }

    private CompletionStage<Standing> evaluate(EtcdQueueEntry at, GetResponse queue, int rounds) {
        List<KeyValue> head = queue.getKvs();
        boolean first = head.isEmpty() || head.get(0).getCreateRevision() == at.since();
        return first || request.mayWait() ? queued(at, first, queue) : giveWay(at, head.get(0), rounds);
    }

    /**
     * A try takes its key away before it says "busy", unless whoever was ahead has left by then: else those who try again and again
     * would find each other's keys and nobody the lock. What it may leave is removed with the contender.
     */
    private CompletionStage<Standing> giveWay(EtcdQueueEntry at, KeyValue ahead, int rounds) {
        position = at;
        Cmp[] aheadStill = {
            TransactionParts.isFrom(ahead.getKey(), ahead.getCreateRevision()),
            TransactionParts.isFrom(at.key(), at.since()) // late it must not touch the next one in its slot
        };
        Op[] lookAgain = {at.queue().ahead(at.since()), TransactionParts.getWithoutValue(at.key())};
        return then(
                at,
                calls.txn(what(), aheadStill, new Op[] {TransactionParts.delete(at.key())}, lookAgain),
                answer -> gaveWay(at, answer, rounds));
    }

    private CompletionStage<Standing> gaveWay(EtcdQueueEntry at, TxnResponse answer, int rounds) {
        if (answer.isSucceeded()) {
            EtcdQueueEntry outside = at.since(0);
            position = outside;
            return done(Finding.BUSY, outside, 0);
        }
        GetResponse queue = answer.getGetResponses().get(0);
        List<KeyValue> own = answer.getGetResponses().get(1).getKvs();
        if (own.isEmpty() || own.get(0).getCreateRevision() != at.since()) {
            return done(Finding.KEY_GONE, at, 0);
        }
        return rounds > 0 ? evaluate(at, queue, rounds - 1) : done(Finding.BUSY, at, 0);
    }

    private CompletionStage<Standing> queued(EtcdQueueEntry at, boolean first, GetResponse queue) {
        position = at;
        return done(first ? Finding.FIRST : Finding.BEHIND, at, queue.getCount());
    }

    private CompletionStage<Standing> then(EtcdQueueEntry at, CompletionStage<TxnResponse> asked, Step next) {
        return asked.handle((answer, failure) -> {
                    if (failure == null) {
                        return next.after(answer);
                    }
                    if (EtcdErrors.isLeaseGone(failure)) {
                        at.on().end("its lease no longer exists");
                    }
                    return at.on().hasEnded()
                            ? done(Finding.SESSION_OVER, at, 0)
                            : CompletableFuture.<Standing>failedFuture(failure);
                })
                .thenCompose(stage -> stage);
    }

    private static CompletionStage<Standing> done(Finding finding, EtcdQueueEntry at, long contenders) {
        return CompletableFuture.completedFuture(new Standing(finding, at, contenders));
    }

    private String what() {
        return "acquire of lock \"" + request.name() + "\"";
    }
}
