// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.support.SerialMachine;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailAttempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailEnd;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailNumbersUsedUp;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Listen;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.LogOrphan;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportGranted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.RetryWatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendList;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRemoval;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unlisten;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unwatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Watch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Abandon;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Attempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.CreateFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Created;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.End;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Failed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ListFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Listed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NoSession;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeChanged;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeDeleted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Notice;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ReadFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Reconnected;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Removed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Response;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.SessionReady;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchDue;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Watched;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of one contender on ZooKeeper: its phase, and what each event leads to in each phase. Pure; the events bring the
 * numbers of the connections. See docs/protocols/zookeeper.md.
 */
record ZooKeeperContenderState(Identity identity, Phase phase) {
    /** The most creates and lists of one attempt: each is only repeated because other clients have changed the queue. */
    static final int MOST_ROUNDS = 20;

    /**
     * The data that never change.
     *
     * @param lockNode the path of the lock's node
     * @param prefix the name of the contender's node without its sequence number, unique for each attempt
     * @param mayWait whether the contender stays queued if it is not the head of the queue
     */
    record Identity(String lockNode, String prefix, boolean mayWait) {
        private String path(String child) {
            return lockNode + "/" + child;
        }

        private @Nullable String ownPath(List<String> children) {
            for (String child : children) {
                if (child.startsWith(prefix)) {
                    return path(child);
                }
            }
            return null;
        }
    }

    /** The contender's node, whose creating transaction is the fencing token. */
    record Node(String path, long czxid) {}

    static ZooKeeperContenderState initial(String lockNode, String prefix, boolean mayWait) {
        return new ZooKeeperContenderState(new Identity(lockNode, prefix, mayWait), new Idle());
    }

    /** The next state, and what to do now. */
    record Step(ZooKeeperContenderState state, List<ZooKeeperContenderEffect> effects)
            implements SerialMachine.Step<ZooKeeperContenderState, ZooKeeperContenderEffect> {}

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this state
     */
    static Step on(ZooKeeperContenderState state, ZooKeeperContenderEvent event) {
        Move move =
                event instanceof Abandon ? to(state.phase, Plain.END_SESSION) : state.phase.on(event, state.identity);
        return new Step(new ZooKeeperContenderState(state.identity, move.next), move.effects);
    }

    /** The next phase, and what to do now. */
    private record Move(Phase next, List<ZooKeeperContenderEffect> effects) {
        /** Returns this move with other effects before its own. */
        Move after(ZooKeeperContenderEffect... first) {
            return new Move(next, concat(List.of(first), effects));
        }

        /** Returns this move with other effects after its own. */
        Move then(ZooKeeperContenderEffect... last) {
            return new Move(next, concat(effects, List.of(last)));
        }

        private static List<ZooKeeperContenderEffect> concat(
                List<ZooKeeperContenderEffect> first, List<ZooKeeperContenderEffect> second) {
            return Stream.concat(first.stream(), second.stream()).toList();
        }
    }

    private static Move to(Phase next, ZooKeeperContenderEffect... effects) {
        return new Move(next, List.of(effects));
    }

    private static Move impossible(Phase phase, ZooKeeperContenderEvent event) {
        throw new IllegalStateException(event + " is impossible in " + phase);
    }

    /** Stays in a phase in which notices mean nothing. */
    private static Move unnoticed(Phase phase, ZooKeeperContenderEvent event) {
        return event instanceof Notice ? to(phase) : impossible(phase, event);
    }

    private static Move create(int rounds) {
        return to(new Creating(false, rounds), Plain.SEND_CREATE);
    }

    private static Move find(int rounds) {
        return to(new Finding(rounds), new SendList(true));
    }

    /**
     * Lists the queue, without a write before: a server that lags behind shows no fewer predecessors than there are, and its watches on them
     * will be triggered.
     */
    private static Move list(Node node, WatchedQueue queue, int rounds) {
        return to(new Listing(node, queue, rounds), new SendList(false));
    }

    private static Move granted(Node node, WatchedQueue queue, long connection) {
        List<ZooKeeperContenderEffect> effects = new ArrayList<>(4);
        // They are all deleted: their watches have been triggered or will be, so the server keeps none.
        queue.nearest().forEach(each -> effects.add(new Unlisten(each.path())));
        if (queue.ownWatch() != connection || connection == WatchedQueue.NEVER) {
            effects.add(Plain.DEFER_WATCH); // the grant is valid without the watch, which only reports a deletion
        }
        effects.add(new ReportGranted(node.czxid));
        return new Move(new Holding(node, queue.ownWatch()), effects);
    }

    /** Ends an attempt, a wait or a grant, because the contender's node does not exist any more. */
    private static Move deleted(String own, Plain report) {
        return to(new Deleted(), new Unlisten(own), Plain.DEREGISTER, report);
    }

    /** Looks for the node that a create without a response may have left, to delete it. */
    private static Move trace(boolean orphaned) {
        return to(new Tracing(orphaned), new SendList(true));
    }

    private static Move remove(String own, boolean orphaned) {
        return to(new Removing(own, orphaned), new SendRemoval(own));
    }

    private static Move removal(@Nullable String own, boolean orphaned) {
        return own == null ? trace(orphaned) : remove(own, orphaned);
    }

    /** Ends the contender, which has no node any more. */
    private static Move ended(boolean existed) {
        return to(new Gone(), Plain.DEREGISTER, Plain.LOCK_NODE_UNUSED, new ReportEnded(existed));
    }

    /** Ends the contender with its session, whose nodes the server deletes. */
    private static Move endedWithSession(ZooKeeperContenderEffect report) {
        return to(new Gone(), Plain.DEREGISTER, report);
    }

    /** A phase of a contender: what it does or waits for. The data of a phase exists only in that phase. */
    sealed interface Phase {
        /** Returns what an event leads to in this phase. */
        Move on(ZooKeeperContenderEvent event, Identity identity);
    }

    /** The contender has no node, and no create is on its way. */
    record Idle() implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Attempt) {
                return to(new Connecting(), Plain.AWAIT_SESSION);
            }
            return event instanceof End ? to(new Gone(), new ReportEnded(false)) : unnoticed(this, event);
        }
    }

    /** The client's session is not ready yet. */
    record Connecting() implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof SessionReady) {
                return create(MOST_ROUNDS);
            }
            if (event instanceof NoSession none) {
                return to(new Idle(), new FailAttempt(none.failure()));
            }
            if (event instanceof End) {
                return to(new Gone(), new ReportEnded(false));
            }
            return event instanceof Attempt ? to(this) : unnoticed(this, event);
        }
    }

    /**
     * A create is on its way.
     *
     * @param withLockNode whether it creates the lock's node too
     * @param rounds how many creates and lists the attempt may still send, and this one
     */
    record Creating(boolean withLockNode, int rounds) implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Created created) {
                Node node = new Node(created.path(), created.czxid());
                Move listing = to(new Listing(node, WatchedQueue.UNKNOWN, rounds), new Listen(node.path));
                return withLockNode ? listing.then(new SendList(false)) : listing; // else it is on its way
            }
            if (event instanceof CreateFailed failed) {
                return onFailure(failed);
            }
            if (event instanceof End) {
                return to(new Withdrawing(false));
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(Plain.REPORT_SESSION_ENDED)
                        : to(new Withdrawing(true), Plain.REPORT_SESSION_ENDED);
            }
            return event instanceof Attempt ? to(this) : unnoticed(this, event);
        }

        private Move onFailure(CreateFailed failed) {
            if (failed.hasCode(Code.NONODE) && !withLockNode) {
                return to(new Creating(true, rounds), Plain.SEND_CREATE_WITH_LOCK_NODE);
            }
            if (failed.hasCode(Code.NODEEXISTS)) { // another contender has created the lock's node meanwhile
                return rounds > 1 ? create(rounds - 1) : to(new Idle(), Plain.DEREGISTER, Plain.FAIL_RESTLESS);
            }
            return failed.mayHaveCreated()
                    ? to(new InDoubt(), new FailAttempt(failed.failure()))
                    : to(new Idle(), Plain.DEREGISTER, new FailAttempt(failed.failure()));
        }
    }

    /** A create had no response, so the contender may have a node. */
    record InDoubt() implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Attempt) {
                return find(MOST_ROUNDS);
            }
            if (event instanceof End) {
                return trace(false);
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(Plain.WAKE_WAITER)
                        : trace(true).then(Plain.WAKE_WAITER);
            }
            if (event instanceof Response) {
                return to(this); // its request failed, and was sent nevertheless; the next list shows the node
            }
            return event instanceof Reconnected ? to(this, Plain.WAKE_WAITER) : unnoticed(this, event);
        }
    }

    /** A list is on its way that shows whether the contender has a node. */
    record Finding(int rounds) implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Listed listed) {
                return onList(listed, identity);
            }
            if (event instanceof ListFailed failed) {
                return to(new InDoubt(), new FailAttempt(failed.failure()));
            }
            if (event instanceof End) {
                return to(new Tracing(false));
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(Plain.REPORT_SESSION_ENDED)
                        : to(new Tracing(true), Plain.REPORT_SESSION_ENDED);
            }
            return event instanceof Attempt || event instanceof Created || event instanceof CreateFailed
                    ? to(this)
                    : unnoticed(this, event);
        }

        private Move onList(Listed listed, Identity identity) {
            @Nullable String own = identity.ownPath(listed.children());
            if (own != null) {
                return to(new Reading(own, rounds), new SendRead(own));
            }
            return rounds > 1 ? create(rounds - 1) : to(new InDoubt(), Plain.FAIL_RESTLESS);
        }
    }

    /** A list has shown the contender's node, and its status is being read. */
    record Reading(String own, int rounds) implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof NodeRead read) {
                Node node = new Node(own, read.czxid());
                return list(node, WatchedQueue.UNKNOWN, rounds).after(new Listen(own));
            }
            if (event instanceof ReadFailed failed) {
                return failed.hasCode(Code.NONODE)
                        ? to(new Deleted(), Plain.DEREGISTER, Plain.REPORT_NODE_DELETED)
                        : to(new InDoubt(), new FailAttempt(failed.failure()));
            }
            if (event instanceof End) {
                return remove(own, false);
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(Plain.REPORT_SESSION_ENDED)
                        : remove(own, true).then(Plain.REPORT_SESSION_ENDED);
            }
            return event instanceof Attempt ? to(this) : unnoticed(this, event);
        }
    }

    /** The contender has a node in the queue, and does not hold the lock as far as it knows. */
    sealed interface InQueue extends Phase {
        Node node();

        WatchedQueue queue();

        /** Returns this phase with changed knowledge of the queue. */
        InQueue with(WatchedQueue queue);

        /** Returns how the core hears of an end: it makes another attempt, which gets this report. */
        default Plain tell(Plain report) {
            return Plain.WAKE_WAITER;
        }

        /** Returns what the deletion of a predecessor leads to. */
        Move onDeletion(WatchedQueue after, long connection);

        /** Returns what ends the watches on the nodes ahead. */
        default ZooKeeperContenderEffect[] unwatch() {
            return queue().nearest().stream()
                    .map(each -> new Unwatch(each.path()))
                    .toArray(ZooKeeperContenderEffect[]::new);
        }

        /** Returns what a call or a notice leads to. */
        default Move onOther(ZooKeeperContenderEvent event) {
            String own = node().path;
            if (event instanceof NodeDeleted deleted) {
                if (deleted.path().equals(own)) {
                    return deleted(own, tell(Plain.REPORT_NODE_DELETED)).after(unwatch());
                }
                return queue().contains(deleted.path())
                        ? onDeletion(queue().deleted(deleted.path(), deleted.released()), deleted.connection())
                        : to(this);
            }
            if (event instanceof NodeChanged changed) {
                boolean isOwn = changed.path().equals(own);
                WatchedQueue after = isOwn ? queue().withOwnWatch(WatchedQueue.NEVER) : queue().changed(changed.path());
                return to(with(after), Plain.WAKE_WAITER);
            }
            if (event instanceof Reconnected) {
                return to(this, Plain.WAKE_WAITER);
            }
            if (event instanceof End) {
                return remove(own, false).after(unwatch());
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(tell(Plain.REPORT_SESSION_ENDED))
                        : remove(own, true).after(unwatch()).then(tell(Plain.REPORT_SESSION_ENDED));
            }
            return unnoticed(this, event);
        }
    }

    /** An attempt in the queue, for which a request is on its way. */
    sealed interface InQueueAttempt extends InQueue {
        @Override
        default Plain tell(Plain report) {
            return report;
        }

        /** The response on its way decides. */
        @Override
        default Move onDeletion(WatchedQueue after, long connection) {
            return to(with(after));
        }

        @Override
        default Move onOther(ZooKeeperContenderEvent event) {
            return event instanceof Attempt ? to(this) : InQueue.super.onOther(event);
        }
    }

    /** A list of the queue is on its way. */
    record Listing(Node node, WatchedQueue queue, int rounds) implements InQueueAttempt {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Listed listed) {
                return onList(listed, identity);
            }
            if (event instanceof ListFailed failed) {
                return to(new Queued(node, queue), new FailAttempt(failed.failure()));
            }
            if (event instanceof CreateFailed failed) { // the client threw on sending the list that follows the create
                return to(new Queued(node, queue), new FailAttempt(failed.failure()));
            }
            return onOther(event);
        }

        private Move onList(Listed listed, Identity identity) {
            String own = node.path.substring(identity.lockNode.length() + 1);
            List<ContenderNode> contenders = ContenderNode.queue(listed.children());
            List<String> names = contenders.stream().map(ContenderNode::name).toList();
            int position = names.indexOf(own);
            if (position < 0) {
                return deleted(node.path, Plain.REPORT_NODE_DELETED).after(unwatch());
            }
            if (contenders.get(position).hasUncertainOrder()) {
                return to(new Queued(node, queue), new FailNumbersUsedUp(node.path));
            }
            if (position == 0) {
                return granted(node, queue, listed.connection());
            }
            if (!identity.mayWait) {
                return to(new Queued(node, queue), Plain.REPORT_WAITING);
            }
            return watch(
                    listed.connection(),
                    names.subList(Math.max(0, position - WatchedQueue.MAX_WATCHED), position).stream()
                            .map(identity::path)
                            .toList(),
                    position > WatchedQueue.MAX_WATCHED);
        }

        /** Registers all watches that are missing on this connection. */
        private Move watch(long connection, List<String> nearest, boolean further) {
            WatchedQueue next = queue.listed(nearest, further);
            List<ZooKeeperContenderEffect> effects = new ArrayList<>();
            queue.nearest().stream()
                    .map(WatchedQueue.Predecessor::path)
                    .filter(path -> !nearest.contains(path))
                    .forEach(path -> effects.add(new Unwatch(path)));
            Set<String> awaited = new HashSet<>(next.unwatchedOn(connection));
            if (next.ownWatch() != connection) {
                awaited.add(node.path);
                effects.add(new Watch(node.path));
            }
            next.unwatchedOn(connection).forEach(path -> effects.add(new Watch(path)));
            Watching watching = new Watching(node, next, awaited, null, rounds);
            return (awaited.isEmpty() ? watching.settled(connection) : to(watching))
                    .after(effects.toArray(ZooKeeperContenderEffect[]::new));
        }

        @Override
        public InQueue with(WatchedQueue after) {
            return new Listing(node, after, rounds);
        }
    }

    /**
     * Watches are being registered.
     *
     * @param awaited the nodes whose watches had no response yet
     * @param failure the first failure for which the attempt will fail
     */
    record Watching(
            Node node,
            WatchedQueue queue,
            Set<String> awaited,
            @Nullable Throwable failure,
            int rounds) implements InQueueAttempt {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Watched watched) {
                WatchedQueue after = watched.path().equals(node.path)
                        ? queue.withOwnWatch(watched.connection())
                        : queue.watched(watched.path(), watched.connection(), watched.sameSession());
                return responded(watched.path(), watched.connection(), after, failure);
            }
            return event instanceof WatchFailed failed ? onFailure(failed) : onOther(event);
        }

        private Move onFailure(WatchFailed failed) {
            String path = failed.path();
            boolean isOwn = path.equals(node.path);
            if (isOwn && failed.hasCode(Code.NONODE)) {
                return deleted(path, Plain.REPORT_NODE_DELETED).after(unwatch());
            }
            if (!isOwn && (failed.hasCode(Code.NONODE) || !queue.contains(path))) { // an event may have told so before
                return responded(path, failed.connection(), queue.missing(path), failure)
                        .after(new Unlisten(path));
            }
            if (failed.hasCode(Code.NOAUTH) && !isOwn && !queue.isNext(path)) { // only the next one must be readable
                return responded(path, failed.connection(), queue.forbidden(path), failure)
                        .after(new Unlisten(path));
            }
            return responded(path, failed.connection(), queue, failure == null ? failed.failure() : failure);
        }

        private Move responded(String path, long connection, WatchedQueue after, @Nullable Throwable cause) {
            Set<String> left = new HashSet<>(awaited);
            left.remove(path);
            Watching next = new Watching(node, after, left, cause, rounds);
            return left.isEmpty() ? next.settled(connection) : to(next);
        }

        /** Returns what the last response leads to. */
        private Move settled(long connection) {
            Queued queued = new Queued(node, queue);
            if (failure != null) {
                return to(queued, new FailAttempt(failure));
            }
            if (queue.isHead(connection)) {
                return granted(node, queue, connection);
            }
            if (queue.shouldListAgain()) {
                return rounds > 1 ? list(node, queue, rounds - 1) : to(queued, Plain.FAIL_RESTLESS);
            }
            return to(queued, Plain.REPORT_WAITING);
        }

        /** A listener may have been added after the event of a deletion, whose node the queue does not have any more. */
        @Override
        public ZooKeeperContenderEffect[] unwatch() {
            Stream<ZooKeeperContenderEffect> gone = awaited.stream()
                    .filter(path -> !path.equals(node.path) && !queue.contains(path))
                    .map(Unlisten::new);
            return Stream.concat(Stream.of(InQueueAttempt.super.unwatch()), gone)
                    .toArray(ZooKeeperContenderEffect[]::new);
        }

        @Override
        public InQueue with(WatchedQueue after) {
            return new Watching(node, after, awaited, failure, rounds);
        }
    }

    /** The contender waits for an event. */
    record Queued(Node node, WatchedQueue queue) implements InQueue {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            return event instanceof Attempt ? list(node, queue, MOST_ROUNDS) : onOther(event);
        }

        /** Without further predecessors, a watched one remains, and its deletion will be the grant. */
        @Override
        public Move onDeletion(WatchedQueue after, long connection) {
            if (after.isHead(connection)) {
                return to(new Head(node, after), Plain.WAKE_WAITER);
            }
            return after.further() || after.nearest().isEmpty() ? to(with(after), Plain.WAKE_WAITER) : to(with(after));
        }

        @Override
        public InQueue with(WatchedQueue after) {
            return new Queued(node, after);
        }
    }

    /** Events have shown that the contender's node is the head of the queue, so the next attempt needs no list. */
    record Head(Node node, WatchedQueue queue) implements InQueue {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Reconnected) {
                return to(with(queue.withOwnWatch(WatchedQueue.NEVER)), Plain.WAKE_WAITER);
            }
            return event instanceof Attempt ? granted(node, queue, queue.ownWatch()) : onOther(event);
        }

        @Override
        public Move onDeletion(WatchedQueue after, long connection) {
            return to(this);
        }

        @Override
        public InQueue with(WatchedQueue after) {
            return new Head(node, after);
        }
    }

    /**
     * The lock is granted.
     *
     * @param ownWatch the connection on which the watch on the contender's node was registered
     */
    record Holding(Node node, long ownWatch) implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof End) {
                return remove(node.path, false);
            }
            if (event instanceof Attempt) { // the grant came too late for the attempt before
                return to(this, new ReportGranted(node.czxid));
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? endedWithSession(Plain.WAKE_WAITER)
                        : remove(node.path, true).then(Plain.WAKE_WAITER);
            }
            if (event instanceof NodeDeleted deleted && deleted.path().equals(node.path)) {
                return deleted(node.path, Plain.REPORT_LOSS);
            }
            return onWatch(event);
        }

        private Move onWatch(ZooKeeperContenderEvent event) {
            if (event instanceof WatchDue due) {
                return due.connection() == ownWatch ? to(this) : to(this, new Watch(node.path));
            }
            if (event instanceof Reconnected connected) { // the grant may not have reached the core
                return connected.connection() == ownWatch
                        ? to(this, Plain.WAKE_WAITER)
                        : to(this, new Watch(node.path), Plain.WAKE_WAITER);
            }
            if (event instanceof NodeChanged changed && changed.path().equals(node.path)) {
                return to(new Holding(node, WatchedQueue.NEVER), new Watch(node.path));
            }
            if (event instanceof Watched watched) {
                return to(new Holding(node, watched.connection()));
            }
            if (event instanceof WatchFailed failed) {
                if (failed.hasCode(Code.NONODE)) {
                    return deleted(node.path, Plain.REPORT_LOSS);
                }
                // A reconnect watches again by itself, and an ACL that forbids it will do so again.
                return failed.hasCode(Code.CONNECTIONLOSS) || failed.hasCode(Code.NOAUTH)
                        ? to(this)
                        : to(this, new RetryWatch(failed.failure()));
            }
            return unnoticed(this, event);
        }
    }

    /** Another client has deleted the contender's node. */
    record Deleted() implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Attempt) {
                return to(this, Plain.REPORT_NODE_DELETED);
            }
            return event instanceof End ? ended(false) : to(this);
        }
    }

    /**
     * The contender has ended, or its session has, and it may have a node.
     *
     * <p>If it is orphaned, its session has ended for Mortise but lives on the application's handle. Then the removal is repeated
     * here until the server has responded, and not by the core.
     */
    sealed interface Ending extends Phase {
        boolean orphaned();

        /** Returns this phase for a session that has ended. */
        Phase orphan();

        /** Returns what a call or a notice leads to. */
        default Move onOther(ZooKeeperContenderEvent event) {
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode() ? endedWithSession(new ReportEnded(false)) : to(orphan());
            }
            if (event instanceof Attempt && orphaned()) {
                return to(this, Plain.REPORT_SESSION_ENDED);
            }
            return event instanceof End || event instanceof Response ? to(this) : unnoticed(this, event);
        }

        /** Returns what the failure of a request for the removal leads to. */
        default Move onFailure(Failed failed, @Nullable String own) {
            if (failed.hasCode(Code.SESSIONEXPIRED)) {
                return endedWithSession(new ReportEnded(false));
            }
            if (orphaned()
                    && failed.hasCode(Code.CONNECTIONLOSS)) { // at once, if the application is closing its handle
                return to(new RemovalDeferred(own), Plain.DEFER_REMOVAL);
            }
            Move unremoved = to(new Unremoved(own, orphaned()), new FailEnd(failed.failure()));
            return orphaned() ? unremoved.then(new LogOrphan(failed.failure())) : unremoved;
        }
    }

    /** A create is on its way, whose node is to be deleted. */
    record Withdrawing(boolean orphaned) implements Ending {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Created created) {
                return remove(created.path(), orphaned);
            }
            if (event instanceof CreateFailed failed) {
                return failed.mayHaveCreated() ? trace(orphaned) : ended(false);
            }
            return onOther(event);
        }

        @Override
        public Phase orphan() {
            return new Withdrawing(true);
        }
    }

    /** A list is on its way that shows whether there is a node to delete. */
    record Tracing(boolean orphaned) implements Ending {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Listed listed) {
                @Nullable String own = identity.ownPath(listed.children());
                return own != null ? remove(own, orphaned) : ended(false);
            }
            return event instanceof ListFailed failed ? onFailure(failed, null) : onOther(event);
        }

        @Override
        public Phase orphan() {
            return new Tracing(true);
        }
    }

    /** The deletion of the contender's node is on its way. */
    record Removing(String own, boolean orphaned) implements Ending {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Removed removed) {
                return ended(removed.existed()).after(new Unlisten(own));
            }
            return event instanceof RemovalFailed failed ? onFailure(failed, own) : onOther(event);
        }

        @Override
        public Phase orphan() {
            return new Removing(own, true);
        }
    }

    /**
     * A request for the removal has failed.
     *
     * @param own the contender's node; null if it may have one, whose name is unknown
     */
    record Unremoved(@Nullable String own, boolean orphaned) implements Ending {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof End) {
                return removal(own, orphaned);
            }
            if (event instanceof SessionEnded end) {
                return end.serverDeletesNode()
                        ? to(new Gone(), Plain.DEREGISTER)
                        : orphaned ? to(this) : removal(own, true);
            }
            return onOther(event);
        }

        @Override
        public Phase orphan() {
            return new Unremoved(own, true);
        }
    }

    /**
     * A request for the removal of an orphaned node had no response, and is repeated in a moment.
     *
     * @param own the contender's node; null if it may have one, whose name is unknown
     */
    record RemovalDeferred(@Nullable String own) implements Ending {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            return event instanceof RemovalDue ? removal(own, true) : onOther(event);
        }

        @Override
        public boolean orphaned() {
            return true;
        }

        @Override
        public Phase orphan() {
            return this;
        }
    }

    /** The contender has ended. */
    record Gone() implements Phase {
        @Override
        public Move on(ZooKeeperContenderEvent event, Identity identity) {
            if (event instanceof Attempt) { // only if it ended with its session
                return to(this, Plain.REPORT_SESSION_ENDED);
            }
            return event instanceof End ? to(this, new ReportEnded(false)) : to(this);
        }
    }
}
