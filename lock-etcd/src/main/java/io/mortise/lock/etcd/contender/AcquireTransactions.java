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
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import io.mortise.lock.spi.LockRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends the transactions that put a contender's key into a lock's queue and determine its position there. {@link
 * EtcdContender} decides what the result means. The contender's queue entry is known here also when a transaction fails.
 */
final class AcquireTransactions {
    private static final int MAX_ROUNDS = 20;

    private final EtcdRequestSender requests;
    private final LockRequest request;
    private final ByteSequence record;
    private final EtcdInDoubtAcquireTracker inDoubt = new EtcdInDoubtAcquireTracker();
    private volatile @Nullable EtcdQueueEntry currentEntry;

    /** The contender's state in the store. */
    enum State {
        /** Its key is the oldest, so it holds the lock. */
        FIRST,

        /** Its key is in the queue, behind others. */
        BEHIND,

        /** An acquire that does not wait found others ahead. Its key was deleted, or is deleted with the contender. */
        BUSY,

        /** Its key was in the queue and has been deleted. */
        KEY_DELETED,

        /** The session has ended, and the contender's key, if any, ends with it. */
        SESSION_ENDED
    }

    /**
     * The result of an acquire request.
     *
     * @param state the contender's state in the store
     * @param entry the contender's queue entry
     * @param contenderCount the number of contenders in the queue, including this one; 0 if they were not counted
     */
    record Result(State state, EtcdQueueEntry entry, long contenderCount) {}

    private interface Step {
        CompletionStage<Result> onResponse(TxnResponse response);
    }

    AcquireTransactions(EtcdRequestSender requests, LockRequest request) {
        this.requests = requests;
        this.request = request;
        this.record = EtcdKeyLayout.bytes(request.ownerRecord());
    }

    /** Returns the value of the contender's key, which no other key has. */
    ByteSequence record() {
        return record;
    }

    /** Returns the requests whose outcome is unknown. */
    EtcdInDoubtAcquireTracker inDoubt() {
        return inDoubt;
    }

    /** Returns the contender's queue entry; null before it has one. */
    @Nullable
    EtcdQueueEntry entry() {
        return currentEntry;
    }

    /** Sets the queue entry of the contender. Called once, before {@link #send}. */
    void setEntry(EtcdQueueEntry entry) {
        currentEntry = entry;
    }

    /**
     * Sends the transactions that follow from the contender's present queue entry.
     *
     * @return the contender's state; fails if that is unknown
     */
    CompletionStage<Result> send() {
        EtcdQueueEntry entry = currentEntry;
        if (entry == null) {
            throw new IllegalStateException("the contender has no entry in the queue");
        }
        return sendFrom(entry, MAX_ROUNDS);
    }

    private CompletionStage<Result> sendFrom(EtcdQueueEntry entry, int roundsLeft) {
        if (entry.session().hasEnded()) {
            return done(State.SESSION_ENDED, entry, 0);
        }
        if (roundsLeft == 0) {
            throw new BackendUnavailableException(
                    description() + ": the queue changed too often during the request; try again");
        }
        return entry.createRevision() == 0 ? put(entry, roundsLeft) : confirm(entry, roundsLeft);
    }

    /**
     * Puts the key and counts the queue in one request; every contender that is queued already is ahead. An acquire that
     * does not wait must know for whom it gives way, so it reads the first contender instead.
     */
    private CompletionStage<Result> put(EtcdQueueEntry entry, int roundsLeft) {
        long epoch = entry.session().epoch();
        if (!inDoubt.beforeSend(epoch)) {
            return CompletableFuture.failedFuture(new BackendUnavailableException(description() + ": withdrawn"));
        }
        Cmp[] absentInSameEpoch = {
            EtcdTransactionParts.isAbsent(entry.key()),
            EtcdTransactionParts.isInEpoch(entry.session().sessionKey(), epoch)
        };
        Op[] putAndRead = {
            EtcdTransactionParts.put(entry.key(), record, entry.session().leaseId()),
            request.mayWait() ? entry.queue().count() : entry.queue().head()
        };
        return nextStep(
                entry,
                requests.txn(description(), absentInSameEpoch, putAndRead)
                        .whenComplete((response, failure) -> inDoubt.onCompleted(failure)),
                response ->
                        response.isSucceeded() ? queued(entry, response, roundsLeft) : readPosition(entry, roundsLeft));
    }

    private CompletionStage<Result> queued(EtcdQueueEntry entry, TxnResponse response, int roundsLeft) {
        EtcdQueueEntry queued = entry.withCreateRevision(response.getHeader().getRevision());
        GetResponse queue = response.getGetResponses().get(0);
        return request.mayWait() ? queued(queued, queue.getCount() <= 1, queue) : evaluate(queued, queue, roundsLeft);
    }

    /**
     * Reads the queue in a separate request after the key was not put: it exists already, or a withdrawal has started a new
     * epoch. Both are rare.
     */
    private CompletionStage<Result> readPosition(EtcdQueueEntry entry, int roundsLeft) {
        Op[] reads = {
            EtcdTransactionParts.get(entry.key()),
            EtcdTransactionParts.getWithoutValue(entry.session().sessionKey()),
            entry.queue().head()
        };
        return nextStep(
                entry,
                requests.txn(description(), new Cmp[0], reads),
                response -> onKeyNotPut(entry, response.getGetResponses(), roundsLeft));
    }

    private CompletionStage<Result> onKeyNotPut(EtcdQueueEntry entry, List<GetResponse> reads, int roundsLeft) {
        List<KeyValue> session = reads.get(1).getKvs();
        if (session.isEmpty()) {
            entry.session().end("the session's key was deleted");
            return done(State.SESSION_ENDED, entry, 0);
        }
        entry.session().observeEpoch(session.get(0).getVersion());
        List<KeyValue> own = reads.get(0).getKvs();
        if (own.isEmpty()) {
            return sendFrom(entry, roundsLeft - 1);
        }
        if (own.get(0).getValue().equals(record)) {
            // An earlier request of this contender was executed.
            return evaluate(entry.withCreateRevision(own.get(0).getCreateRevision()), reads.get(2), roundsLeft);
        }
        EtcdQueueEntry otherSlot = entry.withSlot(entry.queue().addSlot());
        currentEntry = otherSlot;
        return sendFrom(otherSlot, roundsLeft - 1);
    }

    /**
     * Checks in one request whether a waiter is now the first. The grant depends on this reply and not on a watch event.
     */
    private CompletionStage<Result> confirm(EtcdQueueEntry entry, int roundsLeft) {
        Cmp[] unchanged = {EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision())};
        return nextStep(
                entry,
                requests.txn(description(), unchanged, new Op[] {entry.queue().anyBefore(entry.createRevision())}),
                response -> response.isSucceeded()
                        ? evaluate(entry, response.getGetResponses().get(0), roundsLeft)
                        : done(State.KEY_DELETED, entry, 0));
    }

    private CompletionStage<Result> evaluate(EtcdQueueEntry entry, GetResponse queue, int roundsLeft) {
        List<KeyValue> head = queue.getKvs();
        boolean first = head.isEmpty() || head.get(0).getCreateRevision() == entry.createRevision();
        return first || request.mayWait() ? queued(entry, first, queue) : giveWay(entry, head.get(0), roundsLeft);
    }

    /**
     * Deletes the key before an acquire that does not wait reports "busy", unless the contender ahead has left by then.
     * Otherwise clients that retry such acquires in a loop would find each other's keys, and no client would get the lock.
     * A key that remains is deleted with the contender.
     */
    private CompletionStage<Result> giveWay(EtcdQueueEntry entry, KeyValue ahead, int roundsLeft) {
        currentEntry = entry;
        Cmp[] stillBehind = {
            EtcdTransactionParts.hasCreateRevision(ahead.getKey(), ahead.getCreateRevision()),
            // A delayed request must not delete the key of the next contender in the slot.
            EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision())
        };
        Op[] readAgain = {
            entry.queue().anyBefore(entry.createRevision()), EtcdTransactionParts.getWithoutValue(entry.key())
        };
        return nextStep(
                entry,
                requests.txn(
                        description(), stillBehind, new Op[] {EtcdTransactionParts.delete(entry.key())}, readAgain),
                response -> onGaveWay(entry, response, roundsLeft));
    }

    private CompletionStage<Result> onGaveWay(EtcdQueueEntry entry, TxnResponse response, int roundsLeft) {
        if (response.isSucceeded()) {
            EtcdQueueEntry withoutKey = entry.withCreateRevision(0);
            currentEntry = withoutKey;
            return done(State.BUSY, withoutKey, 0);
        }
        GetResponse queue = response.getGetResponses().get(0);
        List<KeyValue> own = response.getGetResponses().get(1).getKvs();
        if (own.isEmpty() || own.get(0).getCreateRevision() != entry.createRevision()) {
            return done(State.KEY_DELETED, entry, 0);
        }
        return roundsLeft > 0 ? evaluate(entry, queue, roundsLeft - 1) : done(State.BUSY, entry, 0);
    }

    private CompletionStage<Result> queued(EtcdQueueEntry entry, boolean first, GetResponse queue) {
        currentEntry = entry;
        return done(first ? State.FIRST : State.BEHIND, entry, queue.getCount());
    }

    private CompletionStage<Result> nextStep(EtcdQueueEntry entry, CompletionStage<TxnResponse> sent, Step next) {
        return sent.handle((response, failure) -> {
                    if (failure == null) {
                        return next.onResponse(response);
                    }
                    if (EtcdErrors.isLeaseNotFound(failure)) {
                        entry.session().end("its etcd lease no longer exists");
                    }
                    return entry.session().hasEnded()
                            ? done(State.SESSION_ENDED, entry, 0)
                            : CompletableFuture.<Result>failedFuture(failure);
                })
                .thenCompose(result -> result);
    }

    private static CompletionStage<Result> done(State state, EtcdQueueEntry entry, long contenderCount) {
        return CompletableFuture.completedFuture(new Result(state, entry, contenderCount));
    }

    private String description() {
        return "acquire of lock \"" + request.name() + "\"";
    }
}
