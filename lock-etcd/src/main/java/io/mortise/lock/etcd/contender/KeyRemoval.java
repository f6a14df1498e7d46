// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.queue.TransactionParts;
import io.mortise.lock.spi.LockName;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** Removes a contender's key; each of its requests is idempotent. */
final class KeyRemoval {
    private final EtcdRequests requests;
    private final String lock;
    private final ByteSequence record;
    private final AtomicBoolean deleting = new AtomicBoolean();

    /** @param record the value of the contender's key, which no other has */
    KeyRemoval(EtcdRequests requests, String lock, ByteSequence record) {
        this.requests = requests;
        this.lock = lock;
        this.record = record;
    }

    /**
     * Of a key that was put, or of one that may have been and will not be. Whether it was there.
     *
     * <p>What was put is deleted without a condition, which costs the server much less: no other key of ours has that name before
     * the answer has come. If it has to be asked for again, the first deletion may be executed at any time: then none will have it
     * again.
     */
    CompletionStage<Boolean> release(EtcdQueueEntry at) {
        String what = "release of lock \"" + LockName.shown(lock) + "\"";
        if (at.since() == 0) {
            Cmp[] ours = {TransactionParts.hasValue(at.key(), record)};
            return requests.txn(what, ours, new Op[] {TransactionParts.delete(at.key())})
                    .thenApply(TxnResponse::isSucceeded);
        }
        if (deleting.getAndSet(true)) {
            at.on().leaveKeysBehind();
        }
        return requests.delete(what, at.key());
    }

    /**
     * What may have been executed is undone, and what may yet be is defeated: by a new epoch of the session, unless there has
     * been one since it was sent. Fails if the session turns out to be over.
     *
     * @param epoch the latest one in which a request was sent that has no answer
     */
    CompletionStage<Boolean> withdraw(EtcdQueueEntry at, long epoch) {
        ByteSequence session = at.on().sessionKey();
        Op undo = Op.txn(
                new Cmp[] {TransactionParts.hasValue(at.key(), record)},
                new Op[] {TransactionParts.delete(at.key())},
                new Op[] {});
        Op[] then = epoch < at.on().epoch()
                ? new Op[] {undo, TransactionParts.getWithoutValue(session)}
                : new Op[] {undo, at.on().putKey(), TransactionParts.getWithoutValue(session)};
        return requests.txn(
                        "withdrawal from lock \"" + LockName.shown(lock) + "\"",
                        new Cmp[] {TransactionParts.isThere(session)},
                        then)
                .thenCompose(answer -> {
                    if (!answer.isSucceeded()) {
                        at.on().end("its key was deleted");
                        return CompletableFuture.failedFuture(at.on().unavailable("its key was deleted"));
                    }
                    at.on()
                            .sawEpoch(answer.getGetResponses()
                                    .get(0)
                                    .getKvs()
                                    .get(0)
                                    .getVersion());
                    return CompletableFuture.completedFuture(
                            answer.getTxnResponses().get(0).isSucceeded());
                });
    }
}
