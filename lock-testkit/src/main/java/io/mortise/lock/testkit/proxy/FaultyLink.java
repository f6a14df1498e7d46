// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.time.Duration;

/**
 * A link between one client and its store that a test can break; {@link TcpProxy} is one. Each command is in effect when its
 * method returns. What a link cannot do throws {@link UnsupportedOperationException}, and what a test wanted with it is then
 * not verified.
 */
public interface FaultyLink extends AutoCloseable {
    /**
     * Nothing passes in either direction, and neither side is told: what a pulled cable does. What is sent meanwhile may
     * arrive late, at {@link #heal()}.
     */
    default void blackHole() {
        throw new UnsupportedOperationException("this link has no blackHole()");
    }

    /** Every connection is reset and new ones are refused, until {@link #heal()}. What was under way is lost. */
    default void cut() {
        throw new UnsupportedOperationException("this link has no cut()");
    }

    /** The next reply is lost though its request was executed; the connection may end with it. Once. */
    default void dropNextReply() {
        throw new UnsupportedOperationException("this link has no dropNextReply()");
    }

    /**
     * What is sent from now on arrives so much later, in each direction.
     *
     * @param oneWay half of what a round trip takes; zero ends it
     */
    default void delay(Duration oneWay) {
        throw new UnsupportedOperationException("this link has no delay()");
    }

    /** Ends every fault; not necessarily the delay. */
    void heal();

    /** Ends the link and what was started for it; idempotent. Default: there is nothing to end. */
    @Override
    default void close() {}
}
