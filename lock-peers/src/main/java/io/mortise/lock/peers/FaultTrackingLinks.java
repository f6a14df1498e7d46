// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.testkit.proxy.ClusterLinks;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;

/**
 * Wraps the links of one client and records the latest injected fault, because after a fault some of the compared libraries
 * cannot tell whether a lock is still held.
 */
final class FaultTrackingLinks implements FaultyLink {
    /** The latest fault that may have ended a lock. */
    enum Fault {
        NONE,
        /** The lock may have survived. */
        SHORT,
        /** The lock has been removed, or the client has been silent for as long as the test waited. */
        LONG
    }

    private final ClusterLinks links;
    private volatile Fault latest = Fault.NONE;
    private volatile int faults;

    FaultTrackingLinks(Collection<String> servers) {
        links = new ClusterLinks(servers);
    }

    List<String> addresses() {
        return links.addresses();
    }

    Fault latest() {
        return latest;
    }

    /** Returns the number of faults so far. */
    int faults() {
        return faults;
    }

    synchronized void disturbed(Fault fault) {
        latest = fault;
        faults++;
    }

    @Override
    public void blackHole() {
        disturbed(Fault.LONG);
        links.blackHole();
    }

    @Override
    public void cut() {
        disturbed(Fault.SHORT);
        links.cut();
    }

    @Override
    public OptionalInt openConnections() {
        return links.openConnections();
    }

    @Override
    public OptionalInt droppedReplies() {
        return links.droppedReplies();
    }

    @Override
    public void dropNextReply() {
        disturbed(Fault.SHORT);
        links.dropNextReply();
    }

    @Override
    public void delay(Duration oneWay) {
        links.delay(oneWay);
    }

    @Override
    public void heal() {
        links.heal();
    }

    @Override
    public void close() {
        links.close();
    }
}
