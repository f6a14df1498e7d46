// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.time.Duration;
import java.util.OptionalInt;

/**
 * A network link between one client and its store on which a test can inject faults.
 *
 * <p>{@link TcpProxy} implements it. Each fault is in effect when its method returns. A fault that the link does not support
 * throws {@link UnsupportedOperationException}, and the rules that need it are then not verified.
 */
public interface FaultyLink extends AutoCloseable {
    /**
     * Stops all traffic in both directions without closing a connection, as an unplugged cable does. Data that is sent
     * meanwhile may arrive later, at {@link #heal()}.
     */
    default void blackHole() {
        throw new UnsupportedOperationException("this link has no blackHole()");
    }

    /** Resets every connection and refuses new ones until {@link #heal()}. Data in transit is lost. */
    default void cut() {
        throw new UnsupportedOperationException("this link has no cut()");
    }

    /** Drops the next reply, once, after its request was executed; the connection may be closed as well. */
    default void dropNextReply() {
        throw new UnsupportedOperationException("this link has no dropNextReply()");
    }

    /**
     * Delays all data that is sent from now on, in each direction.
     *
     * @param oneWay delay in one direction, half of what is added to a round trip; zero ends the delay
     */
    default void delay(Duration oneWay) {
        throw new UnsupportedOperationException("this link has no delay()");
    }

    /** Returns the number of connections that the client has open, to all servers together. Empty if the link counts none. */
    default OptionalInt openConnections() {
        return OptionalInt.empty();
    }

    /**
     * Returns how many replies {@link #dropNextReply} has dropped so far. Empty if the link does not count them: then the kit takes
     * the fault for one without effect unless a request of the client has no reply.
     */
    default OptionalInt droppedReplies() {
        return OptionalInt.empty();
    }

    /** Ends every fault, but not necessarily the delay. */
    void heal();

    /** Closes the link and everything that was started for it; idempotent. Default: does nothing. */
    @Override
    default void close() {}
}
