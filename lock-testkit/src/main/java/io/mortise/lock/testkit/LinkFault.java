// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.function.Consumer;

/** A fault on the link of one client. */
sealed interface LinkFault {
    /** Drops all traffic without closing connections. */
    LinkFault SILENCE = new Outage("silence", FaultyLink::blackHole);

    LinkFault CUT = new Outage("cut", FaultyLink::cut);
    LinkFault LOST_REPLY = new LostReply();
    LinkFault NO_DELAY = new Delay(Duration.ZERO);

    /** Prevents all replies until the link is healed; has a name in reports. */
    record Outage(String name, Consumer<FaultyLink> injection) implements LinkFault {}

    /** Drops the next reply; the link works otherwise. */
    record LostReply() implements LinkFault {}

    /** Delays all data in each direction; zero ends a delay. */
    record Delay(Duration oneWay) implements LinkFault {}
}
