// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A manually verified explanation of why a lock library failed a test. Only with such an explanation does a failure count
 * against a peer.
 *
 * @param peers which peers it concerns
 * @param tests pattern of the names of tests
 * @param messages pattern that is found in the failure's message
 * @param verdict what the failure means
 * @param title the cause in one line
 * @param text the explanation; empty if the title says all
 * @param reproduction the test that shows the same by the peer's API alone; empty unless the verdict is FAILED
 * @param issue address of the peer's own issue, if there is one
 */
record FailureExplanation(
        Predicate<Peer> peers,
        Pattern tests,
        Pattern messages,
        Verdict verdict,
        String title,
        String text,
        String reproduction,
        Optional<String> issue) {

    boolean explains(Peer peer, TestRecord record) {
        return peers.test(peer)
                && tests.matcher(record.test()).matches()
                && messages.matcher(record.message()).find();
    }
}
