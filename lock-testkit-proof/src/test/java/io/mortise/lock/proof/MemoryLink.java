// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.OptionalInt;

/** The link of one client to an in-memory store, whose faults are those of {@link MemoryFaults}. */
public record MemoryLink(MemoryFaults faults) implements FaultyLink {
    @Override
    public void blackHole() {
        faults.freeze();
    }

    @Override
    public void cut() {
        faults.refuse();
    }

    @Override
    public void dropNextReply() {
        faults.dropNextReply();
    }

    @Override
    public void delay(Duration oneWay) {
        faults.delayReplies(oneWay.multipliedBy(2));
    }

    /** A store in this JVM needs no connection. */
    @Override
    public OptionalInt openConnections() {
        return OptionalInt.of(0);
    }

    @Override
    public void heal() {
        faults.heal();
    }
}
