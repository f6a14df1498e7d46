// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** Deletes a contender's key from the lock's queue. Each of its requests is idempotent. */
final class ContenderKeyRemoval {
    private final EtcdRequestSender requests;
    private final String lock;
    private final ByteSequence record;
    private final AtomicBoolean deletionSent = new AtomicBoolean();

    /** @param record the value of the contender's key, which no other key has */
    ContenderKeyRemoval(EtcdRequestSender requests, String lock, ByteSequence record) {
        this.requests = requests;
        this.lock = lock;
        this.record = record;
    }

    /**
     * Deletes a key that was put, or one that may have been put and will not be put later. Returns whether it existed.
     *
     * <p>A key that was put is deleted without a condition, which costs the server much less: no other key of this client
     * has that name before the reply arrives. If the request has to be repeated, the first deletion may be executed at any
     * time, so the name is never used again.
     */
    CompletionStage<Boolean> release(EtcdQueueEntry entry) {
        String what = "release of lock \"" + LockName.shown(lock) + "\"";
        if (entry.createRevision() == 0) {
            Cmp[] hasOwnRecord = {EtcdTransactionParts.hasValue(entry.key(), record)};
            return requests.txn(what, hasOwnRecord, new Op[] {EtcdTransactionParts.delete(entry.key())})
                    .thenApply(TxnResponse::isSucceeded);
        }
        if (deletionSent.getAndSet(true)) {
            entry.session().startKeySeries();
        }
        return requests.delete(what, entry.key());
    }

    /**
     * Moves a key from the session's lease to one of its own, which nobody renews. The key keeps its position in the queue, and
     * its revision. Returns whether it existed.
     *
     * @param defeatsLate whether an acquire may still be executed. A new epoch of the session defeats it, and so does the
     *     absence of the session's key, which must not be put again
     */
    CompletionStage<Boolean> moveToOwnLease(EtcdQueueEntry entry, Duration duration, boolean defeatsLate) {
        String what = "delayed release of lock \"" + LockName.shown(lock) + "\"";
        return requests.grant(what, duration).thenCompose(lease -> {
            Cmp[] isOwnKey = {
                EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision()),
                EtcdTransactionParts.hasValue(entry.key(), record)
            };
            Op move = EtcdTransactionParts.put(entry.key(), record, lease.getID());
            Op newEpoch = Op.txn(
                    new Cmp[] {EtcdTransactionParts.exists(entry.session().sessionKey())},
                    new Op[] {entry.session().putKey()},
                    new Op[] {});
            Op[] then = defeatsLate ? new Op[] {move, newEpoch} : new Op[] {move};
            return requests.txn(what, isOwnKey, then)
                    .thenApply(response -> {
                        if (!response.isSucceeded()) {
                            requests.revoke(lease.getID()); // if this fails, the lease expires without a key
                        }
                        return response.isSucceeded();
                    })
                    .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                            EtcdErrors.isLeaseNotFound(failure) // its own, not that of the session
                                    ? new BackendUnavailableException(
                                            what + ": the lease of the delay has expired already")
                                    : failure));
        });
    }

    /**
     * Undoes an acquire that may have been executed, and defeats one that may still be executed: by a new epoch of the
     * session, unless one has started since the acquire was sent. Fails if the session has ended.
     *
     * @param epoch the latest epoch in which a request was sent that has no reply
     */
    CompletionStage<Boolean> withdraw(EtcdQueueEntry entry, long epoch) {
        ByteSequence sessionKey = entry.session().sessionKey();
        Op undo = Op.txn(
                new Cmp[] {EtcdTransactionParts.hasValue(entry.key(), record)},
                new Op[] {EtcdTransactionParts.delete(entry.key())},
                new Op[] {});
        Op[] then = epoch < entry.session().epoch()
                ? new Op[] {undo, EtcdTransactionParts.getWithoutValue(sessionKey)}
                : new Op[] {undo, entry.session().putKey(), EtcdTransactionParts.getWithoutValue(sessionKey)};
        return requests.txn(
                        "withdrawal from lock \"" + LockName.shown(lock) + "\"",
                        new Cmp[] {EtcdTransactionParts.exists(sessionKey)},
                        then)
                .thenCompose(response -> {
                    if (!response.isSucceeded()) {
                        entry.session().end("the session's key was deleted");
                        return CompletableFuture.failedFuture(
                                entry.session().unavailable("the session's key was deleted"));
                    }
                    entry.session()
                            .observeEpoch(response.getGetResponses()
                                    .get(0)
                                    .getKvs()
                                    .get(0)
                                    .getVersion());
                    return CompletableFuture.completedFuture(
                            response.getTxnResponses().get(0).isSucceeded());
                });
    }
}
