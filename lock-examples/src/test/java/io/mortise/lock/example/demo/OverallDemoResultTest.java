// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static io.mortise.lock.example.demo.SampleResults.FROZEN;
import static io.mortise.lock.example.demo.SampleResults.KILL;
import static io.mortise.lock.example.demo.SampleResults.WITH;
import static io.mortise.lock.example.demo.SampleResults.WITHOUT;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OverallDemoResultTest {
    private static DemoRunResult with(long sold, long refusedHolders, int left, long repeatedTokens) {
        return new DemoRunResult(100, left, sold, 1, refusedHolders, 70, repeatedTokens);
    }

    private static void assertFails(OverallDemoResult result, String why) {
        assertThat(result.ok()).isFalse();
        assertThat(result.failures()).singleElement().asString().contains(why);
    }

    @Test
    void lostUpdatesAreAcknowledgedSalesMinusRemovedStock() {
        assertThat(WITHOUT.removed()).isEqualTo(40);
        assertThat(WITHOUT.lost()).isEqualTo(60);
        assertThat(WITH.lost()).isZero();
        // Without the lock, more workers than items sell more often than there are items.
        assertThat(new DemoRunResult(1, 0, 64, 0, 0, 63, 0).lost()).isEqualTo(63);
    }

    @Test
    void goodResultHasNoFailures() {
        assertThat(SampleResults.good().failures()).isEmpty();
        assertThat(SampleResults.good().ok()).isTrue();
    }

    @Test
    void withoutTheLockUpdatesMustBeLost() {
        DemoRunResult lucky = new DemoRunResult(100, 0, 100, 0, 0, 51, 0);
        assertFails(SampleResults.result(lucky, WITH, KILL, FROZEN), "lost no update");
    }

    @Test
    void withTheLockNoUpdateMayBeLost() {
        assertFails(SampleResults.result(WITHOUT, with(100, 0, 1, 0), KILL, FROZEN), "lost 1 updates");
    }

    @Test
    void allItemsMustBeSold() {
        assertFails(SampleResults.result(WITHOUT, with(99, 0, 1, 0), KILL, FROZEN), "99 of 100 items");
    }

    @Test
    void tokensMustNotRepeat() {
        assertFails(SampleResults.result(WITHOUT, with(100, 0, 0, 2), KILL, FROZEN), "2 repeated");
    }

    @Test
    void writesOfHoldersMustNotBeRefused() {
        assertFails(SampleResults.result(WITHOUT, with(100, 1, 0, 0), KILL, FROZEN), "1 holders refused");
    }

    @Test
    void grantAfterTheKillMustHaveAHigherToken() {
        FaultDrillResult.Kill kill = new FaultDrillResult.Kill(Duration.ofSeconds(1), 36, 36);
        assertFails(SampleResults.result(WITHOUT, WITH, kill, FROZEN), "token 36 was followed by 36");
    }

    @Test
    void lateWriteMustBeRefusedAndItsLeaseMustNotBeHeld() {
        Duration time = Duration.ofSeconds(1);
        assertFails(
                SampleResults.result(WITHOUT, WITH, KILL, new FaultDrillResult.Frozen(time, 7, 8, false, false)),
                "accepted");
        assertFails(
                SampleResults.result(WITHOUT, WITH, KILL, new FaultDrillResult.Frozen(time, 7, 8, true, true)),
                "isHeld=true");
    }
}
