// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import org.jspecify.annotations.Nullable;

/**
 * A request that a client sent to the store.
 *
 * @param client the client
 * @param sentAt when it was sent
 * @param fault the fault on the link or the server at that moment; null if there was none
 * @param lostReply the reply that was to be dropped at that moment; null if there was none
 */
record StoreRequestRecord(
        ClientLinkState client,
        long sentAt,
        @Nullable FaultEffectRecord fault,
        @Nullable LostReplyRecord lostReply) {

    /** Notes that the request had a reply. */
    void answered() {
        if (lostReply != null && lostReply == client.lostReply) { // else the drop may have been undone first
            lostReply.answered = true;
        }
    }

    /** Notes that the request had no reply, which may be the one that was dropped after it had been sent. */
    void unanswered() {
        if (lostReply != null) {
            lostReply.unanswered = true;
        }
        if (client.lostReply != null) {
            client.lostReply.unanswered = true;
        }
    }
}
