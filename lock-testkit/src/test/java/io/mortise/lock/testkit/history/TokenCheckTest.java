// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.RELEASED;

import org.junit.jupiter.api.Test;

/** S3: histories that break it, and near misses that do not. */
class TokenCheckTest {
    private final HandwrittenHistory story = new HandwrittenHistory();

    @Test
    void S3_aTokenGivenTwice() {
        story.held("a", 1, 10, 20);
        story.held("b", 1, 30, 40);
        story.breaks("S3");
    }

    @Test
    void S3_aTokenBelowThatOfAnEarlierGrant() {
        story.held("a", 7, 10, 20);
        story.held("b", 6, 30, 40);
        story.breaks("S3");
    }

    /** Both asked at the same time, so only what they believed tells the order. */
    @Test
    void S3_aTokenBelowThatOfAnEarlierBelief() {
        story.held("a", 7, 10, 20);
        story.asks("b", 5).granted(30, 6).checks(30, true).checks(40, true).released(41, 42, RELEASED);
        story.breaks("S3");
    }

    @Test
    void S3_aHigherTokenGrantedFirstByUncertainClocks_isGood() {
        story.held("a", 7, 10, 20);
        story.asks("b", 5).blurred(20).granted(25, 6).checks(25, true).released(28, 29, RELEASED);
        story.isGood();
    }

    @Test
    void S3_aWriteRefusedThoughNoneHadAHigherToken() {
        story.held("a", 1, 10, 20).wrote(15, 1, false);
        story.breaks("S3");
    }
}
