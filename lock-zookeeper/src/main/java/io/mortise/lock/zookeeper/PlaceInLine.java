// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a ticket knows of its node, of those right ahead, and on which connection the watches on them were armed. Decides
 * what an event means; no I/O and no calls outwards.
 *
 * <p>Those ahead of a node only ever get fewer. So whatever a list once showed, however old it is, all are gone that were
 * ahead as soon as each of them is known to be gone.
 */
final class PlaceInLine {
    /** How many of those ahead are watched. The second one's end gives time to look before the first one's. */
    static final int WATCHED = 2;

    private static final long NEVER = -1;

    /** A watch on one ahead: the connection on which it was armed, and whether that node is, or may be, of our own session. */
    private record Watch(long connection, boolean sameSession) {
        static final Watch NONE = new Watch(NEVER, true);
    }

    /** What is to be told after an event. */
    enum News {
        NONE,
        /** Ask again. */
        LOOK,
        /** The grant is gone. */
        LOST
    }

    /** A create was sent and not answered by success or a clear no: the node may exist. */
    @GuardedBy("this")
    private boolean mayExist;

    @GuardedBy("this")
    private @Nullable String node;

    @GuardedBy("this")
    private long czxid;

    @GuardedBy("this")
    private long ownArmed = NEVER;

    /** The nearest ones ahead that may be there. */
    @GuardedBy("this")
    private final Map<String, Watch> ahead = new HashMap<>(4);

    /** One of the nearest may not be watched by us, so it counts to the others. */
    @GuardedBy("this")
    private boolean unreadable;

    /** There are, or may be, others before them. */
    @GuardedBy("this")
    private boolean more = true;

    @GuardedBy("this")
    private boolean pushed;

    @GuardedBy("this")
    private boolean granted;

    /** Our node is gone, and not by our doing. */
    @GuardedBy("this")
    private boolean removed;

    @GuardedBy("this")
    private boolean ending;

    /** A create is about to be sent. False: too late, nothing may be made any more. */
    synchronized boolean creating() {
        mayExist |= !ending;
        return !ending;
    }

    /** No node was made, and none will be by what was sent. */
    synchronized void notCreated() {
        mayExist = false;
    }

    synchronized void created(String path, long createdAt) {
        node = path;
        czxid = createdAt;
        mayExist = false;
    }

    /** From now on nothing is made, and no event matters. Whether there may be something to remove. */
    synchronized boolean ending() {
        ending = true;
        return node != null || mayExist;
    }

    synchronized boolean mayExist() {
        return mayExist;
    }

    synchronized Optional<String> node() {
        return Optional.ofNullable(node);
    }

    synchronized String ownNode() {
        if (node == null) {
            throw new IllegalStateException("no node yet");
        }
        return node;
    }

    synchronized boolean isRemoved() {
        return removed;
    }

    /** Ours is known to be the first: no list is needed to grant it. */
    synchronized boolean isPushed() {
        return pushed;
    }

    /** It is granted. Returns the token; none if our node was deleted meanwhile. */
    synchronized OptionalLong grant() {
        granted = !removed;
        pushed = false;
        return granted ? OptionalLong.of(czxid) : OptionalLong.empty();
    }

    /** It is granted, and its owner has not given it up. */
    synchronized boolean isGranted() {
        return granted && !ending;
    }

    /** Whether the watch on our own node stands on this connection. */
    synchronized boolean ownStands(long connection) {
        return ownArmed == connection;
    }

    /** Whether all watches stand on this connection, so that what a list shows is not older than what they told. */
    synchronized boolean stands(long connection) {
        return ownArmed == connection && ahead.values().stream().allMatch(watch -> watch.connection == connection);
    }

    /** A list showed these right ahead, and whether there are more. Returns who was ahead and is no longer. */
    synchronized List<String> standBehind(List<String> nearest, boolean others) {
        more = others;
        unreadable = false;
        List<String> gone =
                ahead.keySet().stream().filter(path -> !nearest.contains(path)).toList();
        ahead.keySet().removeAll(gone);
        nearest.forEach(path -> ahead.putIfAbsent(path, Watch.NONE));
        return gone;
    }

    /** Whose watch does not stand on this connection, of those ahead. */
    synchronized List<String> unarmed(long connection) {
        return ahead.entrySet().stream()
                .filter(each -> each.getValue().connection != connection)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Fewer are watched than could be: somebody went since the last list. */
    synchronized boolean shouldLook() {
        return more && ahead.size() < (unreadable ? WATCHED - 1 : WATCHED);
    }

    /** Nobody is watched ahead any more. Returns who was. */
    synchronized List<String> leaveAhead() {
        List<String> before = List.copyOf(ahead.keySet());
        ahead.clear();
        more = true;
        return before;
    }

    /** Our node is there, and watched on this connection. */
    synchronized void ownArmed(long connection) {
        ownArmed = connection;
        checkFirst(connection);
    }

    synchronized void aheadArmed(String path, long connection, boolean sameSession) {
        ahead.computeIfPresent(path, (known, before) -> new Watch(connection, sameSession));
    }

    /** We may not watch that one: it is one of the others then, and the end of the nearer one means "look". */
    synchronized void aheadUnreadable(String path) {
        ahead.remove(path);
        unreadable = true;
        more = true;
    }

    /** That one was gone when its watch was to be armed. */
    synchronized void aheadAbsent(String path, long connection) {
        ahead.remove(path);
        checkFirst(connection);
    }

    /**
     * First is who is there while nobody is ahead. Where our own watch stands on this connection, all that came on it came in
     * the server's order: had our node been deleted before the last one ahead, we had heard of that before. After a reconnect
     * events come in any order, and our own watch from before it says nothing.
     */
    @GuardedBy("this")
    private void checkFirst(long connection) {
        pushed |= ahead.isEmpty() && !more && ownArmed == connection && !removed && !granted;
    }

    /** Whether this is our own node, and its owner is giving it up. */
    synchronized boolean gaveUp(String path) {
        return ending && path.equals(node);
    }

    /**
     * A watched node was deleted. If it was the last one ahead, that may be the grant itself. But where a session ends, the
     * server deletes all its nodes in one step and tells of them in any order: the end of one of our own session that nobody
     * gave up may be the sign of our own, so it is only a reason to look.
     *
     * @param givenUp its owner is known to have given it up
     */
    synchronized News deleted(String path, long connection, boolean givenUp) {
        if (ending) {
            return News.NONE;
        }
        if (path.equals(node)) {
            boolean known = removed;
            removed = true;
            return known ? News.NONE : granted ? News.LOST : News.LOOK;
        }
        Watch watch = ahead.remove(path);
        if (watch == null) {
            return News.NONE;
        }
        more |= watch.sameSession && !givenUp;
        checkFirst(connection);
        return more || ahead.isEmpty() ? News.LOOK : News.NONE; // whose end is the grant is watched already
    }

    /** A watch fired for another reason: it is used up. */
    synchronized void fired(String path) {
        if (path.equals(node)) {
            ownArmed = NEVER;
        } else {
            ahead.computeIfPresent(path, (known, before) -> Watch.NONE);
        }
    }
}
