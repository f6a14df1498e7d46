// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdContenderEvent.GaveWay;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyGone;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyNotPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.KeyPut;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Moved;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.NoKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OtherKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.OwnKeyFound;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.PositionRead;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Removed;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.AnyBefore;
import io.mortise.lock.explorer.etcd.EtcdStore.Compare;
import io.mortise.lock.explorer.etcd.EtcdStore.CreatedAt;
import io.mortise.lock.explorer.etcd.EtcdStore.Delete;
import io.mortise.lock.explorer.etcd.EtcdStore.Exists;
import io.mortise.lock.explorer.etcd.EtcdStore.First;
import io.mortise.lock.explorer.etcd.EtcdStore.Get;
import io.mortise.lock.explorer.etcd.EtcdStore.HasValue;
import io.mortise.lock.explorer.etcd.EtcdStore.HasVersion;
import io.mortise.lock.explorer.etcd.EtcdStore.Op;
import io.mortise.lock.explorer.etcd.EtcdStore.Put;
import io.mortise.lock.explorer.etcd.EtcdStore.Result;
import io.mortise.lock.explorer.etcd.EtcdStore.Txn;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request of {@link EtcdContenderRequests} as a transaction of the model, and what its reply leads to. {@link EtcdModelTest}
 * compares both with production and a real server.
 *
 * @param from whose key it is
 * @param revision the revision of the key
 * @param number the epoch of a put, the lease of a move
 * @param ahead the contender for whom it gives way
 * @param newEpoch whether a withdrawal or a move starts a new epoch
 */
record ModelledRequest(
        Kind kind,
        Origin from,
        long revision,
        long number,
        @Nullable ContenderKey ahead,
        boolean newEpoch) {
    enum Kind {
        PUT,
        READ,
        CHECK,
        GIVE_WAY,
        DELETE,
        DELETE_IF_OWN,
        WITHDRAW,
        MOVE
    }

    /**
     * A contender as its requests show it.
     *
     * @param prefix the prefix of all keys of the lock
     * @param record the value of its key
     */
    record Origin(
            String prefix,
            String key,
            String record,
            String sessionKey,
            String sessionRecord,
            long lease,
            boolean mayWait) {}

    Txn transaction() {
        First all = new First(from.prefix);
        AnyBefore older = new AnyBefore(from.prefix, revision);
        Get own = new Get(from.key);
        Get session = new Get(from.sessionKey);
        Delete delete = new Delete(from.key, kind == Kind.WITHDRAW);
        Put putSession = new Put(from.sessionKey, from.sessionRecord, from.lease);
        List<Compare> isOwn = List.of(new HasValue(from.key, from.record));
        List<Compare> isOwnRevision = List.of(new CreatedAt(from.key, revision));
        return switch (kind) {
            case PUT ->
                new Txn(
                        List.of(new CreatedAt(from.key, 0), new HasVersion(from.sessionKey, number)),
                        List.of(new Put(from.key, from.record, from.lease), all),
                        List.of());
            case READ -> new Txn(List.of(), List.of(own, session, all), List.of());
            case CHECK -> new Txn(isOwnRevision, List.of(older), List.of());
            case GIVE_WAY -> {
                ContenderKey other = Objects.requireNonNull(ahead);
                yield new Txn(
                        List.of(new CreatedAt(other.key().toString(), other.createRevision()), isOwnRevision.get(0)),
                        List.of(delete),
                        List.of(older, own));
            }
            case DELETE -> new Txn(List.of(), List.of(delete), List.of());
            case DELETE_IF_OWN -> new Txn(isOwn, List.of(delete), List.of());
            case WITHDRAW -> {
                List<Op> then = new ArrayList<>(List.of(new Txn(isOwn, List.of(delete), List.of())));
                if (newEpoch) {
                    then.add(putSession);
                }
                then.add(session);
                yield new Txn(List.of(new Exists(from.sessionKey)), then, List.of());
            }
            case MOVE -> {
                List<Op> then = new ArrayList<>(List.of(new Put(from.key, from.record, number)));
                if (newEpoch) {
                    then.add(new Txn(List.of(new Exists(from.sessionKey)), List.of(putSession), List.of()));
                }
                yield new Txn(List.of(isOwnRevision.get(0), isOwn.get(0)), then, List.of());
            }
        };
    }

    /** Returns the epoch that a reply shows; empty if it shows none. 0 means that the session has ended. */
    Optional<Long> epoch(Result reply) {
        if (kind == Kind.READ) {
            return Optional.of(version(reply.parts().get(1)));
        }
        if (kind == Kind.WITHDRAW) {
            return Optional.of(
                    reply.succeeded() ? version(reply.parts().get(reply.parts().size() - 1)) : 0L);
        }
        return Optional.empty();
    }

    private static long version(Result read) {
        EtcdStore.Entry entry = read.entry();
        return entry == null ? 0 : entry.version();
    }

    /**
     * Returns what a reply leads to, if it does not show that the session has ended.
     *
     * @param executed the revision of the store after the execution
     * @param epoch the epoch of the session as the client knows it then
     */
    EtcdContenderEvent event(Result reply, long executed, long epoch) {
        List<Result> parts = reply.parts();
        return switch (kind) {
            case PUT -> {
                if (!reply.succeeded()) {
                    yield new KeyNotPut();
                }
                Result queue = parts.get(1);
                yield new KeyPut(executed, from.mayWait ? Position.last(queue.count()) : position(executed, queue));
            }
            case READ -> {
                EtcdStore.Entry entry = parts.get(0).entry();
                if (entry == null) {
                    yield new NoKeyFound(epoch);
                }
                yield entry.value().equals(from.record)
                        ? new OwnKeyFound(entry.createRevision(), position(entry.createRevision(), parts.get(2)))
                        : new OtherKeyFound(epoch);
            }
            case CHECK -> reply.succeeded() ? new PositionRead(position(revision, parts.get(0))) : new KeyGone();
            case GIVE_WAY -> {
                if (reply.succeeded()) {
                    yield new GaveWay();
                }
                EtcdStore.Entry entry = parts.get(1).entry();
                yield entry != null && entry.createRevision() == revision
                        ? new PositionRead(position(revision, parts.get(0)))
                        : new KeyGone();
            }
            case DELETE -> new Removed(parts.get(0).count() > 0);
            case DELETE_IF_OWN -> new Removed(reply.succeeded());
            case WITHDRAW -> {
                Result undone = parts.get(0);
                yield new Removed(undone.succeeded()
                        && (revision == 0
                                || Objects.requireNonNull(undone.parts().get(0).entry())
                                                .createRevision()
                                        == revision));
            }
            case MOVE -> new Moved(reply.succeeded());
        };
    }

    private static Position position(long revision, Result found) {
        EtcdStore.Entry head = found.entry();
        if (head == null || head.createRevision() == revision) {
            return Position.behind(null, found.count());
        }
        String name = Objects.requireNonNull(found.key());
        return Position.behind(new ContenderKey(EtcdKeyLayout.bytes(name), head.createRevision()), found.count());
    }

    /** Describes the request without its origin. */
    void describe(StateKey key) {
        key.value(kind).number(revision).number(number).flags(newEpoch);
        if (ahead != null) {
            key.value(ahead.key()).number(ahead.createRevision());
        } else {
            key.number(0);
        }
    }
}
