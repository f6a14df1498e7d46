// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InDoubtRequestsTest {
    private static final long NO_TIME = 0;

    @Test
    void S08_anAwaitedRequestMayBeExecutedUntilItsReply() {
        InDoubtRequests sent = InDoubtRequests.NONE.sent(1);
        assertThat(InDoubtRequests.NONE.mayStillExecute()).isFalse();
        assertThat(sent.mayStillExecute()).isTrue();
        assertThat(sent.anyLost()).isFalse();
        assertThat(sent.answered()).isEqualTo(InDoubtRequests.NONE);
    }

    @Test
    void S08_aReplyToAnEarlierRequestDoesNotHideALaterOne() {
        InDoubtRequests oneAwaited =
                InDoubtRequests.NONE.sent(1).sent(1).answered().resolvedBy(1, Long.MAX_VALUE);
        assertThat(oneAwaited.mayStillExecute()).isTrue();
        assertThat(oneAwaited.answered().mayStillExecute()).isFalse();
    }

    @Test
    void S08_aLaterReplyOnTheSameConnectionResolvesALostRequest() {
        InDoubtRequests lost = InDoubtRequests.NONE.lost(3, 1_000);
        assertThat(lost.mayStillExecute()).isTrue();
        assertThat(lost.resolvedBy(3, NO_TIME)).isEqualTo(InDoubtRequests.NONE);
    }

    @Test
    void S08_onAnotherConnectionOnlyTheServersClockResolves() {
        InDoubtRequests lost = InDoubtRequests.NONE.lost(3, 1_000);
        assertThat(lost.resolvedBy(4, 1_000)).isEqualTo(lost);
        assertThat(lost.resolvedBy(4, 1_001)).isEqualTo(InDoubtRequests.NONE);
    }

    @Test
    void S08_ofSeveralTheOldestConnectionAndTheLatestTimeCount() {
        InDoubtRequests lost = InDoubtRequests.NONE.lost(3, 1_000).lost(4, 2_000);
        assertThat(lost.resolvedBy(4, 1_500).anyLost())
                .as("the first may still be executed")
                .isTrue();
        InDoubtRequests later = lost.resolvedBy(5, 2_001).lost(9, 500);
        assertThat(later.resolvedBy(8, 500).anyLost())
                .as("a connection to another server")
                .isTrue();
        assertThat(later.resolvedBy(10, 501).anyLost())
                .as("earlier requests have ended")
                .isFalse();
    }

    @Test
    void S08_aRequestWithoutATimeLimitStaysInDoubt() {
        InDoubtRequests lost = InDoubtRequests.NONE.sent(1).answered().lost(1, Long.MAX_VALUE);
        assertThat(lost.resolvedBy(2, Long.MAX_VALUE).mayStillExecute()).isTrue();
        assertThat(lost.highestEpoch()).isEqualTo(1);
    }

    /** Replies to requests that were sent before the repetition come before it is executed. */
    @Test
    void S08_noReplyOnItsConnectionResolvesARequestThatWasSentAgain() {
        InDoubtRequests lost = InDoubtRequests.NONE.lost(InDoubtRequests.OUT_OF_ORDER, 1_000);
        assertThat(lost.resolvedBy(3, NO_TIME).mayStillExecute()).isTrue();
        assertThat(lost.lost(3, 500).resolvedBy(3, NO_TIME).mayStillExecute()).isTrue();
        assertThat(lost.resolvedBy(3, 1_001)).isEqualTo(InDoubtRequests.NONE);
    }
}
