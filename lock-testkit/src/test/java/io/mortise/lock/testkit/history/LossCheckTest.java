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

/** S7, and holders that were frozen: histories that break it, and near misses that do not. */
class LossCheckTest {
    private final HandwrittenHistory story = new HandwrittenHistory();

    @Test
    void aFrozenHolderThatWasOvertaken_isCounted_andItsWriteRefused() {
        frozenAndOvertaken().wrote(5015, 1, false).checks(5020, false);
        story.isGood();
        HistoryReport report = story.check();
        assertThat(report.refusedWrites()).isEqualTo(1);
        assertThat(report.losses()).isEqualTo(1);
        assertThat(report.wrongBeliefs()).singleElement().satisfies(wrong -> {
            assertThat(wrong.holder().process()).isEqualTo("a");
            assertThat(wrong.successor().process()).isEqualTo("b");
            assertThat(wrong.lasted()).isEqualTo(Duration.ofMillis(2020));
        });
    }

    @Test
    void S3_aFrozenHolderWhoseLateWriteIsAccepted() {
        frozenAndOvertaken().wrote(5015, 1, true).checks(5020, false);
        story.breaks("S3");
    }

    private HandwrittenHistory.Teller frozenAndOvertaken() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 5010);
        story.asks("b", 5)
                .granted(3000, 2)
                .checks(3000, true)
                .wrote(3001, 2, true)
                .released(6000, 6001, RELEASED);
        return story.asks("a", 0)
                .granted(10, 1)
                .checks(10, true)
                .wrote(11, 1, true)
                .told(5030)
                .released(5040, 5041, LOST);
    }

    @Test
    void aFrozenHolderThatKeptItsLease_isNotCounted() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 500);
        story.held("a", 1, 10, 600);
        story.asks("b", 5).granted(620, 2).checks(620, true).released(700, 701, RELEASED);
        story.isGood();
        assertThat(story.check().wrongBeliefs()).isEmpty();
    }

    @Test
    void S7_neverTold() {
        story.asks("a", 0).granted(10, 1).checks(10, true);
        story.asks("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        story.breaks("S7");
    }

    @Test
    void S7_toldTooLate() {
        story.asks("a", 0).granted(10, 1).checks(10, true).told(800).released(801, 802, LOST);
        story.asks("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        story.breaks("S7");
    }

    /** The one in between was frozen before it could report its grant. */
    @Test
    void S7_toldTooLateByTheGrantAfterTheNext() {
        story.asks("a", 0).granted(10, 1).checks(10, true).told(8000).released(8001, 8002, LOST);
        story.disturbed("b", PAUSED, 100).disturbed("b", RESUMED, 8900);
        story.asks("b", 5).granted(9000, 2).checks(9000, false).told(9001).released(9002, 9003, LOST);
        story.asks("c", 6).granted(5000, 3).checks(5000, true).released(9500, 9501, RELEASED);
        story.breaks("S7");
    }

    @Test
    void S5_seenToBeOver_andReleased() {
        story.asks("a", 0).granted(10, 1).checks(10, true).checks(20, false).released(30, 40, RELEASED);
        story.breaks("S5");
    }

    @Test
    void S7_toldByABusyExecutor_isGood() {
        story.asks("a", 0).granted(10, 1).checks(10, true).told(400).released(801, 802, LOST);
        story.asks("b", 5).granted(20, 2).checks(20, true).released(900, 901, RELEASED);
        story.isGood();
    }

    @Test
    void S7_aBrokenLineExcusesNothing() {
        story.disturbed("a", CUT, 15).disturbed("a", HEALED, 4000);
        story.asks("a", 0).granted(10, 1).checks(10, true).told(3900).released(4100, 4101, LOST);
        story.asks("b", 5).granted(3000, 2).checks(3000, true).released(4200, 4201, RELEASED);
        story.breaks("S7");
    }

    @Test
    void S7_theDeadAndTheFrozenHearNothing() {
        story.disturbed("a", KILLED, 15).disturbed("b", PAUSED, 3015);
        story.asks("a", 0).granted(10, 1).checks(10, true);
        story.asks("b", 5).granted(3000, 2).checks(3000, true);
        story.asks("c", 5).granted(6000, 3).checks(6000, true).released(9000, 9001, RELEASED);
        story.isGood();
        assertThat(story.check().wrongBeliefs()).hasSize(1);
    }

    @Test
    void S7_aFrozenHolderThatIsNeverToldAfterwards() {
        story.disturbed("a", PAUSED, 15).disturbed("a", RESUMED, 4000);
        story.asks("a", 0).granted(10, 1).checks(10, true);
        story.asks("b", 5).granted(3000, 2).checks(3000, true).released(9000, 9001, RELEASED);
        story.breaks("S7");
    }

    @Test
    void S7_toldThoughReleased() {
        story.held("a", 1, 10, 20).told(25);
        story.breaks("S7");
    }
}
