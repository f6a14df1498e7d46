// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.RELEASED;

import org.junit.jupiter.api.Test;

/** Tests that the checker finds duplicate and decreasing fencing tokens and wrongly rejected writes. Rule S3. */
class TokenCheckTest {
    private final HandwrittenHistory history = new HandwrittenHistory();

    @Test
    void S3_twoGrantsWithTheSameToken() {
        history.held("a", 1, 10, 20);
        history.held("b", 1, 30, 40);
        history.breaks("S3");
    }

    @Test
    void S3_aTokenBelowThatOfAnEarlierGrant() {
        history.held("a", 7, 10, 20);
        history.held("b", 6, 30, 40);
        history.breaks("S3");
    }

    /** Both calls started at the same time, so only the checks show the order. */
    @Test
    void S3_aTokenBelowThatOfAnEarlierHeldLease() {
        history.held("a", 7, 10, 20);
        history.acquires("b", 5)
                .granted(30, 6)
                .checks(30, true)
                .checks(40, true)
                .released(41, 42, RELEASED);
        history.breaks("S3");
    }

    @Test
    void S3_aHigherTokenGrantedFirstByUncertainClocks_isGood() {
        history.held("a", 7, 10, 20);
        history.acquires("b", 5)
                .withUncertainty(20)
                .granted(25, 6)
                .checks(25, true)
                .released(28, 29, RELEASED);
        history.isGood();
    }

    @Test
    void S3_aWriteRejectedThoughNoneHadAHigherToken() {
        history.held("a", 1, 10, 20).wrote(15, 1, false);
        history.breaks("S3");
    }
}
