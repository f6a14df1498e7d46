// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

/**
 * Shows how often an injected fault took effect, according to the recorded events.
 *
 * @param fault the fault, such as "cut"
 * @param confirmed how often the recorded events show that it took effect
 * @param contradicted how often they show that it did not
 * @param unseen how often they show neither
 * @param example what contradicts it; empty if nothing does
 */
record FaultEffectCounts(String fault, int confirmed, int contradicted, int unseen, String example) {
    /**
     * Returns whether the fault has no effect. A link that does not count the replies that it drops may drop one that answers no
     * request, so a single missing reply shows that it works.
     */
    boolean hasNoEffect() {
        return contradicted > 0 && (confirmed == 0 || !fault.equals(LostReplyRecord.FAULT));
    }

    FaultEffectCounts plus(FaultEffectCounts other) {
        return new FaultEffectCounts(
                fault,
                confirmed + other.confirmed,
                contradicted + other.contradicted,
                unseen + other.unseen,
                example.isEmpty() ? other.example : example);
    }
}
