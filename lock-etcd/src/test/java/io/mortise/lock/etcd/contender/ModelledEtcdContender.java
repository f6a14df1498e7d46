// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.explorer.CorePhase;
import java.util.ArrayList;
import java.util.List;

/** One contender: its state machine, and what the core does about it. */
final class ModelledEtcdContender implements Cloneable {
    final int client;
    final char kind;
    final int incarnation;
    final String record; // made once, since keys of worlds know texts by their identity
    EtcdContenderState protocol;
    CorePhase core = CorePhase.NEW;
    boolean woken;
    boolean gaveUp;
    boolean revoked; // an operator has ended the grant
    boolean deferredWatch;
    boolean awaitsSession;
    boolean cleansUp; // the core has replaced it, and does not end it
    boolean abandoned; // the core has given up its end, which ends the session
    boolean removed; // as the last reply has found the store
    boolean working; // the machine is taking an event
    long lease; // of its session
    int slot;
    String key = "";
    long revision;
    long token;
    List<EtcdContenderEvent> inbox = new ArrayList<>(); // empty between steps, as the actions
    List<Runnable> actions = new ArrayList<>();

    /** @param number of the contender among all */
    ModelledEtcdContender(int client, char kind, int number, int incarnation) {
        this.client = client;
        this.kind = kind;
        this.incarnation = incarnation;
        record = "#" + number + incarnation;
        protocol = EtcdContenderState.initial(waits());
    }

    ModelledEtcdContender copy() {
        try {
            ModelledEtcdContender copy = (ModelledEtcdContender) clone();
            copy.inbox = new ArrayList<>();
            copy.actions = new ArrayList<>();
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean waits() {
        return kind != 't' && kind != 'u';
    }

    /** Forgets what a contender that has ended does not use. */
    void forget() {
        woken = false;
        abandoned = false;
        key = "";
        revision = 0;
        token = 0;
    }
}
