// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.Locale;

/**
 * An event that was recorded during one test.
 *
 * @param atMicros time since the test began
 * @param kind what happened
 * @param client the client, such as "client 2"; empty for an event of the store
 * @param lock the name of the lock; empty if it is about none
 * @param attempt the first digits of the attempt id, which tell the waiters of one client apart; empty for other events
 * @param detail the reason, token or fault
 */
record LockEvent(long atMicros, Kind kind, String client, String lock, String attempt, String detail) {
    /** The kinds of events. */
    enum Kind {
        /** A client was opened. */
        OPENED("is opened"),
        /** The first request for a lock is sent. */
        REQUESTED("requests"),
        /** The store replied that the lock is taken. */
        WAITING("waits for"),
        /** A request got no reply or an error. */
        UNANSWERED("got no reply about"),
        /** The store granted the lock. */
        GRANTED("is granted"),
        /** The store confirmed a renewal. */
        RENEWED("renews"),
        /** The holder was told that its lease ended. */
        LOST("is told of the loss of"),
        /** A release or a withdrawal is sent. */
        ENDING("releases or withdraws from"),
        /** The store confirmed a release or a withdrawal. */
        ENDED("has ended"),
        /** The kit injected a fault. */
        FAULT("FAULT"),
        /** The kit healed a fault. */
        HEALED("fault healed"),
        /** The test failed. */
        FAILED("THE TEST FAILS");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    /** Returns one line for people to read. */
    @Override
    public String toString() {
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%8.3f s  ", atMicros / 1e6));
        if (!client.isEmpty()) {
            line.append(client).append(' ');
        }
        line.append(kind.text);
        if (!lock.isEmpty()) {
            line.append(" \"").append(lock).append('"');
        }
        if (!detail.isEmpty()) {
            line.append(": ").append(detail);
        }
        return line.toString();
    }
}
