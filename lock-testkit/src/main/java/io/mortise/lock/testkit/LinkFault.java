// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A fault on the link of one client.
 *
 * @param name the name in reports
 * @param injection call that injects the fault
 * @param oneWay the delay in one direction; zero if the fault is no delay, or ends one
 */
record LinkFault(String name, Consumer<FaultyLink> injection, Duration oneWay) {
    /** Drops all traffic without closing connections. */
    static final LinkFault SILENCE = new LinkFault("silence", FaultyLink::blackHole, Duration.ZERO);

    static final LinkFault CUT = new LinkFault("cut", FaultyLink::cut, Duration.ZERO);
    static final LinkFault LOST_REPLY = new LinkFault("dropNextReply", FaultyLink::dropNextReply, Duration.ZERO);
    static final LinkFault NO_DELAY = delay(Duration.ZERO);

    static LinkFault delay(Duration oneWay) {
        return new LinkFault("delay", link -> link.delay(oneWay), oneWay);
    }
}
