// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.DeleteResponse;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.AcquireFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.GaveWay;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyGone;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyNotPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.LeaseGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Moved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NoKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OtherKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OwnKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.PositionRead;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Removed;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Sends the requests of one contender, and turns their outcomes into its events. Each removal is idempotent. */
final class EtcdContenderRequests {
    private static final String SESSION_KEY_DELETED = "the session's key was deleted";

    private final EtcdRequestSender requests;
    private final LockRequest request;
    private final ByteSequence record; // the value of the contender's key, which no other key has
    private final Consumer<EtcdContenderEvent> events;

    EtcdContenderRequests(EtcdRequestSender requests, LockRequest request, Consumer<EtcdContenderEvent> events) {
        this.requests = requests;
        this.request = request;
        this.record = EtcdKeyLayout.bytes(request.ownerRecord());
        this.events = events;
    }

    /** Every contender that is queued already is ahead. One that does not wait must know for whom it gives way. */
    void put(EtcdQueueEntry entry, long epoch) {
        Cmp[] absentInSameEpoch = {
            EtcdTransactionParts.isAbsent(entry.key()),
            EtcdTransactionParts.isInEpoch(entry.session().sessionKey(), epoch)
        };
        Op[] putAndRead = {
            EtcdTransactionParts.put(entry.key(), record, entry.session().leaseId()),
            request.mayWait() ? entry.queue().count() : entry.queue().head()
        };
        acquire(entry, requests.txn(acquireDescription(), absentInSameEpoch, putAndRead), response -> {
            if (!response.isSucceeded()) {
                return new KeyNotPut();
            }
            long revision = response.getHeader().getRevision();
            GetResponse queue = response.getGetResponses().get(0);
            return new KeyPut(
                    revision, request.mayWait() ? Position.last(queue.getCount()) : position(revision, queue));
        });
    }

    /** The key exists already, or a withdrawal has started a new epoch. Both are rare. */
    void read(EtcdQueueEntry entry) {
        EtcdSession session = entry.session();
        Op[] reads = {
            EtcdTransactionParts.get(entry.key()),
            EtcdTransactionParts.getWithoutValue(session.sessionKey()),
            entry.queue().head()
        };
        long epoch = session.epoch();
        acquire(entry, requests.txn(acquireDescription(), new Cmp[0], reads), response -> {
            List<GetResponse> found = response.getGetResponses();
            observeEpoch(session, found.get(1), epoch);
            List<KeyValue> own = found.get(0).getKvs();
            if (own.isEmpty()) {
                return new NoKeyFound(session.epoch());
            }
            long revision = own.get(0).getCreateRevision();
            return own.get(0).getValue().equals(record)
                    ? new OwnKeyFound(revision, position(revision, found.get(2)))
                    : new OtherKeyFound(session.epoch());
        });
    }

    void check(EtcdQueueEntry entry) {
        Cmp[] unchanged = {EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision())};
        Op[] read = {entry.queue().anyBefore(entry.createRevision())};
        acquire(
                entry,
                requests.txn(acquireDescription(), unchanged, read),
                response -> response.isSucceeded()
                        ? new PositionRead(position(
                                entry.createRevision(),
                                response.getGetResponses().get(0)))
                        : new KeyGone());
    }

    void giveWay(EtcdQueueEntry entry, ContenderKey ahead) {
        Cmp[] stillBehind = {
            EtcdTransactionParts.hasCreateRevision(ahead.key(), ahead.createRevision()),
            // A delayed request must not delete the key of the next contender in the slot.
            EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision())
        };
        Op[] delete = {EtcdTransactionParts.delete(entry.key())};
        Op[] readAgain = {
            entry.queue().anyBefore(entry.createRevision()), EtcdTransactionParts.getWithoutValue(entry.key())
        };
        acquire(entry, requests.txn(acquireDescription(), stillBehind, delete, readAgain), response -> {
            if (response.isSucceeded()) {
                return new GaveWay();
            }
            GetResponse queue = response.getGetResponses().get(0);
            List<KeyValue> own = response.getGetResponses().get(1).getKvs();
            boolean exists = !own.isEmpty() && own.get(0).getCreateRevision() == entry.createRevision();
            return exists ? new PositionRead(position(entry.createRevision(), queue)) : new KeyGone();
        });
    }

    /** Returns the position behind the contender that a read has found, which may be this one. */
    private static Position position(long revision, GetResponse found) {
        List<KeyValue> head = found.getKvs();
        boolean isFirst = head.isEmpty() || head.get(0).getCreateRevision() == revision;
        @Nullable
        ContenderKey ahead = isFirst
                ? null
                : new ContenderKey(head.get(0).getKey(), head.get(0).getCreateRevision());
        return Position.behind(ahead, found.getCount());
    }

    void delete(EtcdQueueEntry entry) {
        remove(entry, requests.delete(releaseDescription(), entry.key()), Removed::new);
    }

    void deleteIfOwn(EtcdQueueEntry entry) {
        Cmp[] hasOwnRecord = {EtcdTransactionParts.hasValue(entry.key(), record)};
        Op[] delete = {EtcdTransactionParts.delete(entry.key())};
        remove(
                entry,
                requests.txn(releaseDescription(), hasOwnRecord, delete),
                response -> new Removed(response.isSucceeded()));
    }

    /** Fails if the session has ended. */
    void withdraw(EtcdQueueEntry entry, boolean newEpoch) {
        ByteSequence sessionKey = entry.session().sessionKey();
        Cmp[] sessionExists = {EtcdTransactionParts.exists(sessionKey)};
        Op undo = Op.txn(
                new Cmp[] {EtcdTransactionParts.hasValue(entry.key(), record)},
                new Op[] {EtcdTransactionParts.deleteAndRead(entry.key())},
                new Op[] {});
        Op readEpoch = EtcdTransactionParts.getWithoutValue(sessionKey);
        long epoch = entry.session().epoch();
        Op[] then = newEpoch ? new Op[] {undo, entry.session().putKey(), readEpoch} : new Op[] {undo, readEpoch};
        remove(entry, requests.txn(description("withdrawal from"), sessionExists, then), response -> {
            if (!response.isSucceeded()) {
                throw sessionDeleted(entry.session());
            }
            observeEpoch(entry.session(), response.getGetResponses().get(0), epoch);
            TxnResponse undone = response.getTxnResponses().get(0);
            return new Removed(undone.isSucceeded()
                    && isOf(entry, undone.getDeleteResponses().get(0)));
        });
    }

    /** Returns whether the deleted key was the known one. Otherwise that was gone, and a late put had put the key again. */
    private static boolean isOf(EtcdQueueEntry entry, DeleteResponse deleted) {
        return entry.createRevision() == 0
                || deleted.getPrevKvs().stream().anyMatch(key -> key.getCreateRevision() == entry.createRevision());
    }

    void grantLease(EtcdQueueEntry entry, Duration delay) {
        remove(entry, requests.grant(delayDescription(), delay), lease -> new LeaseGranted(lease.getID()));
    }

    /** The absence of the session's key defeats late acquires too, and it must not be put again. */
    void move(EtcdQueueEntry entry, long leaseId, boolean newEpoch) {
        Cmp[] isOwnKey = {
            EtcdTransactionParts.hasCreateRevision(entry.key(), entry.createRevision()),
            EtcdTransactionParts.hasValue(entry.key(), record)
        };
        Op move = EtcdTransactionParts.put(entry.key(), record, leaseId);
        Op epoch = Op.txn(
                new Cmp[] {EtcdTransactionParts.exists(entry.session().sessionKey())},
                new Op[] {entry.session().putKey()},
                new Op[] {});
        Op[] then = newEpoch ? new Op[] {move, epoch} : new Op[] {move};
        CompletionStage<TxnResponse> sent = requests.txn(delayDescription(), isOwnKey, then);
        sent.whenComplete((response, failure) -> {
            if (failure == null) {
                events.accept(new Moved(response.isSucceeded()));
            } else {
                events.accept(new RemovalFailed(
                        EtcdErrors.isLeaseNotFound(failure) // that of the delay, not that of the session
                                ? new BackendUnavailableException(
                                        delayDescription() + ": the lease of the delay has expired already")
                                : failure));
            }
        });
    }

    /** Does not wait: if this fails, the lease expires without a key. */
    void revoke(long leaseId) {
        requests.revoke(leaseId);
    }

    private static void observeEpoch(EtcdSession session, GetResponse sessionKey, long before) {
        if (sessionKey.getKvs().isEmpty()) {
            throw sessionDeleted(session);
        }
        session.observeEpoch(sessionKey.getKvs().get(0).getVersion(), before);
    }

    private static RuntimeException sessionDeleted(EtcdSession session) {
        session.end(SESSION_KEY_DELETED);
        return session.unavailable(SESSION_KEY_DELETED);
    }

    private <T> void acquire(EtcdQueueEntry entry, CompletionStage<T> sent, Function<T, EtcdContenderEvent> onReply) {
        bring(entry, sent, onReply, AcquireFailed::of);
    }

    private <T> void remove(EtcdQueueEntry entry, CompletionStage<T> sent, Function<T, EtcdContenderEvent> onReply) {
        bring(entry, sent, onReply, RemovalFailed::new);
    }

    private <T> void bring(
            EtcdQueueEntry entry,
            CompletionStage<T> sent,
            Function<T, EtcdContenderEvent> onReply,
            Function<Throwable, EtcdContenderEvent> onFailure) {
        sent.whenComplete((reply, failure) -> {
            EtcdContenderEvent event;
            try {
                event = failure == null ? onReply.apply(reply) : failed(entry, failure, onFailure);
            } catch (RuntimeException e) {
                event = onFailure.apply(e);
            }
            events.accept(event);
        });
    }

    /** If the session has ended, the contender learns that first. */
    private static EtcdContenderEvent failed(
            EtcdQueueEntry entry, Throwable failure, Function<Throwable, EtcdContenderEvent> onFailure) {
        if (EtcdErrors.isLeaseNotFound(failure)) {
            entry.session().end("its etcd lease no longer exists");
        }
        return onFailure.apply(failure);
    }

    String acquireDescription() {
        return description("acquire of");
    }

    private String releaseDescription() {
        return description("release of");
    }

    private String delayDescription() {
        return description("delayed release of");
    }

    private String description(String what) {
        return what + " lock \"" + LockName.shown(request.name().value()) + "\"";
    }
}
