// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * The scope of an exploration.
 *
 * @param clientOfContender the client of each contender
 * @param serverOfClient the server to which each client is connected at first
 * @param servers 1, or 2 with a follower
 * @param faults the number of faults
 * @param possible the kinds of faults
 * @param givingUp whether callers may give up
 * @param variant the protocol
 */
record ZooKeeperScope(
        List<Integer> clientOfContender,
        List<Integer> serverOfClient,
        int servers,
        int faults,
        Set<Fault> possible,
        boolean givingUp,
        Variant variant) {
    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param provesSessions whether a server ends a session only after the client's deadline
     * @param barrier what is sent before a list that must show all that was committed
     */
    record Variant(
            BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderState.Step> machine,
            boolean provesSessions,
            RequestKind barrier) {
        static final Variant PRODUCTION = of(ZooKeeperContenderState::on);

        static Variant of(
                BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderState.Step> machine) {
            return new Variant(machine, true, RequestKind.COMMIT_NO_OP);
        }
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A connection is lost, with the responses and events on it. */
        CUT,
        /** A request of a lost connection is executed later, but before what its client sends on another. Needs a cut. */
        LATE_EXECUTION,
        /** The client may not register its watches again on a new connection. Needs a cut. */
        WATCHES_FORGOTTEN,
        /** The servers restart, or elect another leader: all connections are lost at once. */
        ELECTION,
        /** An election, of which the leader until then hears later: it is cut off, and serves clients as before. */
        LEADER_CUT_OFF,
        /** A response does not come in time for the core. */
        SLOW_RESPONSE,
        /** The session has not been proved alive until its deadline. */
        DEADLINE,
        /** An operator deletes a node. */
        OPERATOR,
        /** ZooKeeper's client throws an exception, although it sends a create; the list after it is not sent. */
        EXCEPTION,
        /** A thread stands still before it sends a list, so that the connection may be another than it believes. Free. */
        PAUSE;

        static final Set<Fault> LOSING_CONNECTIONS = EnumSet.of(CUT, ELECTION, LEADER_CUT_OFF);
    }

    static ZooKeeperScope of(
            String clientOfContender,
            String serverOfClient,
            int servers,
            int faults,
            Set<Fault> possible,
            boolean givingUp) {
        return new ZooKeeperScope(
                digits(clientOfContender),
                digits(serverOfClient),
                servers,
                faults,
                possible,
                givingUp,
                Variant.PRODUCTION);
    }

    private static List<Integer> digits(String text) {
        return Arrays.stream(text.split("")).map(Integer::parseInt).toList();
    }

    /** Returns whether each client has one contender, and all clients are connected to the same server at first. */
    boolean clientsAreAlike() {
        return clientOfContender.size() == serverOfClient.size()
                && Set.copyOf(clientOfContender).size() == clientOfContender.size()
                && Set.copyOf(serverOfClient).size() == 1;
    }

    ZooKeeperScope with(Variant other) {
        return new ZooKeeperScope(clientOfContender, serverOfClient, servers, faults, possible, givingUp, other);
    }
}
