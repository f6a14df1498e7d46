// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Executed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what a reply shows about requests on the same connection, or on an earlier one. */
class VoteReplyHandlerTest {
    private static final int EPOCH = 7;
    private static final List<Object> LATE = List.of("late", 1_000L);
    private static final List<Object> BUSY = List.of("busy", 5L, "holder", 0L, 1_000L);

    /** Otherwise the time of a new process would rule out a request that the old one has executed, or a new one may still execute. */
    @Test
    void S08_aRefusalFromAnotherConnectionRulesOutNoEarlierRequest() {
        assertThat(VoteReplyHandler.execution(LATE, true, EPOCH)).isEqualTo(new Refused(EPOCH, 1_000));
        assertThat(VoteReplyHandler.execution(LATE, false, EPOCH)).isEqualTo(new NotExecuted());
    }

    @Test
    void S08_aReplyFromAnotherConnectionIsOnlyOneOfItsOwnRequest() {
        assertThat(VoteReplyHandler.execution(BUSY, true, EPOCH)).isEqualTo(new Executed(EPOCH, 1_000, true));
        assertThat(VoteReplyHandler.execution(BUSY, false, EPOCH))
                .isEqualTo(new Executed(-1, ServerTime.UNKNOWN.micros(), false));
    }

    @Test
    void aMasterInQuarantineHasDoneNothing() {
        assertThat(VoteReplyHandler.execution(List.of("quarantined"), false, EPOCH))
                .isEqualTo(new NotExecuted());
    }
}
