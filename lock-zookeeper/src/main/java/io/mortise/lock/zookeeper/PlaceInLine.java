// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a ticket knows of its node, of the node ahead, and on which connection the watches on both were armed. Decides what
 * an event means; no I/O and no calls outwards.
 */
final class PlaceInLine {
    private static final long NEVER = -1;

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

    @GuardedBy("this")
    private @Nullable String ahead;

    @GuardedBy("this")
    private long aheadArmed = NEVER;

    /** The node ahead was the only one: when it goes, the lock is ours. */
    @GuardedBy("this")
    private boolean nextInLine;

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

    /** The grant has come as an event. */
    synchronized boolean isPushed() {
        return pushed;
    }

    /** It is granted. Returns the token; none if our node was deleted meanwhile. */
    synchronized OptionalLong grant() {
        granted = !removed;
        pushed = false;
        return granted ? OptionalLong.of(czxid) : OptionalLong.empty();
    }

    synchronized boolean isGranted() {
        return granted;
    }

    /** Whether the watch on our own node stands on this connection. */
    synchronized boolean ownStands(long connection) {
        return ownArmed == connection;
    }

    /** Whether both watches stand on this connection, so that what a list shows is not older than what they told. */
    synchronized boolean stands(long connection) {
        return ownArmed == connection && (ahead == null || aheadArmed == connection);
    }

    synchronized void ownArmed(long connection) {
        ownArmed = connection;
    }

    synchronized void aheadArmed(String path, long connection) {
        if (path.equals(ahead)) {
            aheadArmed = connection;
        }
    }

    /** Behind that node now. Whether the watch on it still has to be armed. */
    synchronized boolean standBehind(String path, boolean onlyOne, long connection) {
        nextInLine = onlyOne;
        if (path.equals(ahead) && aheadArmed == connection) {
            return false;
        }
        ahead = path;
        aheadArmed = NEVER;
        return true;
    }

    /** Nobody is watched ahead any more, unless it is this one. Returns who was. */
    synchronized Optional<String> leaveAhead(@Nullable String stays) {
        String before = ahead;
        if (before == null || before.equals(stays)) {
            return Optional.empty();
        }
        ahead = null;
        aheadArmed = NEVER;
        return Optional.of(before);
    }

    /**
     * A watched node was deleted. That of the only node ahead is the grant itself, if nothing can have been missed: both
     * watches stood on this connection, and our node is there. After a reconnect events come in any order.
     */
    synchronized News deleted(String path, long connection) {
        if (ending) {
            return News.NONE;
        }
        if (path.equals(node)) {
            boolean known = removed;
            removed = true;
            return known ? News.NONE : granted ? News.LOST : News.LOOK;
        }
        if (path.equals(ahead)) {
            pushed = nextInLine && aheadArmed == connection && ownArmed == connection && !removed;
            ahead = null;
            aheadArmed = NEVER;
            return News.LOOK;
        }
        return News.NONE;
    }

    /** A watch fired for another reason: it is used up. */
    synchronized void fired(String path) {
        if (path.equals(node)) {
            ownArmed = NEVER;
        } else if (path.equals(ahead)) {
            aheadArmed = NEVER;
        }
    }
}
