// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One contender: its state machine, and what the core does about it. */
final class ModelledContender {
    final int client;
    int incarnation;
    ZooKeeperContenderState protocol;
    CorePhase core = CorePhase.NEW;
    boolean woken;
    boolean gaveUp;
    boolean timedOut; // so that an outcome may come without a call
    boolean revoked; // an operator deleted the node while it was the head of the queue
    boolean deferredWatch;
    boolean dropsList; // whether the next response to a paired list is dropped
    boolean removed; // whether its last removal deleted the node
    boolean working; // the machine is taking an event

    @Nullable
    Request unsentList; // of a thread that stands still

    long token;
    final List<ZooKeeperContenderEvent> inbox;

    ModelledContender(int client, int i) {
        this.client = client;
        this.protocol = initial(i, 0);
        inbox = new ArrayList<>();
    }

    ModelledContender(ModelledContender from) {
        client = from.client;
        incarnation = from.incarnation;
        protocol = from.protocol;
        core = from.core;
        woken = from.woken;
        gaveUp = from.gaveUp;
        timedOut = from.timedOut;
        revoked = from.revoked;
        deferredWatch = from.deferredWatch;
        dropsList = from.dropsList;
        removed = from.removed;
        working = from.working;
        unsentList = from.unsentList;
        token = from.token;
        inbox = new ArrayList<>(from.inbox);
    }

    static ZooKeeperContenderState initial(int contender, int incarnation) {
        return ZooKeeperContenderState.initial(
                ZooKeeperWorld.LOCK, ContenderNode.prefix("#" + contender + incarnation), true);
    }

    /** Returns whether this is the name of its node: that of the present incarnation. */
    boolean owns(String name) {
        return name.startsWith(protocol.identity().prefix());
    }
}
