// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static io.mortise.lock.ReleaseOutcome.LOST;
import static io.mortise.lock.ReleaseOutcome.RELEASED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.CUT;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.HEALED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.KILLED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.PAUSED;
import static io.mortise.lock.testkit.history.HistoryEvent.Disturbed.Kind.RESUMED;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that the checker finds missing and late loss notifications, and counts frozen holders. Rule S7. */
class LossCheckTest {
    private final HandwrittenHistory history = new HandwrittenHistory();

    @Test
    void aFrozenHolderWhoseLockWasGrantedToAnother_isCounted_andItsWriteRejected() {
        staleHolderAfterAFreeze().wrote(5015, 1, false).checks(5020, false);
        history.isGood();
        HistoryReport report = history.check();
        assertThat(report.refusedWrites()).isEqualTo(1);
        assertThat(report.losses()).isEqualTo(1);
        assertThat(report.staleHolders()).singleElement().satisfies(wrong -> {
            assertThat(wrong.holder().process()).isEqualTo("a");
            assertThat(wrong.successor().process()).isEqualTo("b");
            assertThat(wrong.lasted()).isEqualTo(Duration.ofMillis(2020));
        });
    }

    @Test
    void S3_aFrozenHolderWhoseLateWriteIsAccepted() {
        staleHolderAfterAFreeze().wrote(5015, 1, true).checks(5020, false);
        history.breaks("S3");
    }

    private HandwrittenHistory.CallBuilder staleHolderAfterAFreeze() {
        history.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        history.acquires("b", 5)
                .granted(3000, 2)
                .checks(3000, true)
                .wrote(3001, 2, true)
                .released(6000, 6001, RELEASED);
        return history.acquires("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .wrote(11, 1, true)
                .lost(5030)
                .released(5040, 5041, LOST);
    }

    @Test
    void aFrozenHolderThatKeptItsLease_isNotCounted() {
        history.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 500);
        history.held("a", 1, 10, 600);
        history.acquires("b", 5).granted(620, 2).checks(620, true).released(700, 701, RELEASED);
        history.isGood();
        assertThat(history.check().staleHolders()).isEmpty();
    }

    @Test
    void S7_neverNotified() {
        history.acquires("a", 0).granted(10, 1).checks(10, true);
        history.acquires("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        history.breaks("S7");
    }

    @Test
    void S7_notifiedTooLate() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).lost(800).released(801, 802, LOST);
        history.acquires("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        history.breaks("S7");
    }

    /** The process in between was frozen before it could report its grant. */
    @Test
    void S7_notifiedTooLateByTheGrantAfterTheNext() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).lost(8000).released(8001, 8002, LOST);
        history.disturbed("b", PAUSED, 100).disturbed("b", RESUMED, 8900);
        history.acquires("b", 5).granted(9000, 2).checks(9000, false).lost(9001).released(9002, 9003, LOST);
        history.acquires("c", 6).granted(5000, 3).checks(5000, true).released(9500, 9501, RELEASED);
        history.breaks("S7");
    }

    @Test
    void S5_reportedAsNotHeld_andReleased() {
        history.acquires("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .checks(20, false)
                .released(30, 40, RELEASED);
        history.breaks("S5");
    }

    @Test
    void S7_notifiedByABusyExecutor_isGood() {
        history.acquires("a", 0).granted(10, 1).checks(10, true).lost(400).released(801, 802, LOST);
        history.acquires("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        history.isGood();
    }

    @Test
    void S7_aCutLinkIsNoExcuse() {
        history.disturbed("a", CUT, 15).disturbed("a", HEALED, 4000);
        history.acquires("a", 0).granted(10, 1).checks(10, true).lost(3900).released(4100, 4101, LOST);
        history.acquires("b", 5).granted(3000, 2).checks(3000, true).released(4200, 4201, RELEASED);
        history.breaks("S7");
    }

    @Test
    void S7_deadAndFrozenProcessesReceiveNothing() {
        history.disturbed("a", KILLED, 15).disturbed("b", PAUSED, 3015);
        history.acquires("a", 0).granted(10, 1).checks(10, true);
        history.acquires("b", 5).granted(3000, 2).checks(3000, true);
        history.acquires("c", 5).granted(6000, 3).checks(6000, true).released(9000, 9001, RELEASED);
        history.isGood();
        assertThat(history.check().staleHolders()).hasSize(1);
    }

    @Test
    void S7_aFrozenHolderThatIsNeverNotifiedAfterwards() {
        history.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 4000);
        history.acquires("a", 0).granted(10, 1).checks(10, true);
        history.acquires("b", 5).granted(3000, 2).checks(3000, true).released(9000, 9001, RELEASED);
        history.breaks("S7");
    }

    @Test
    void S7_notifiedThoughReleased() {
        history.held("a", 1, 10, 20).lost(25);
        history.breaks("S7");
    }
}
