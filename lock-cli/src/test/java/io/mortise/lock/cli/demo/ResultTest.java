// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import static io.mortise.lock.cli.demo.Samples.FROZEN;
import static io.mortise.lock.cli.demo.Samples.KILL;
import static io.mortise.lock.cli.demo.Samples.WITH;
import static io.mortise.lock.cli.demo.Samples.WITHOUT;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ResultTest {
    private static Run with(long sold, long refusedHolders, int left, long writes, long repeated) {
        return new Run(100, sold, refusedHolders, new Stock(left, 130, writes, 1, 70, repeated, "w1"));
    }

    private static void fails(Result result, String why) {
        assertThat(result.ok()).isFalse();
        assertThat(result.failures()).singleElement().asString().contains(why);
    }

    @Test
    void lostIsAcknowledgedSalesLessStockRemoved() {
        assertThat(WITHOUT.removed()).isEqualTo(40);
        assertThat(WITHOUT.lost()).isEqualTo(60);
        assertThat(WITH.lost()).isZero();
        // Sold more often than there were items: the run without the lock, with more workers than items.
        assertThat(new Run(1, 64, 0, new Stock(0, 0, 64, 0, 63, 0, "w1")).lost())
                .isEqualTo(63);
    }

    @Test
    void allOfItHolds() {
        assertThat(Samples.good().failures()).isEmpty();
        assertThat(Samples.good().ok()).isTrue();
    }

    @Test
    void withoutTheLockUpdatesMustBeLost() {
        Run lucky = new Run(100, 100, 0, new Stock(0, 0, 100, 0, 51, 0, "w1"));
        fails(Samples.result(lucky, WITH, KILL, FROZEN), "lost no update");
    }

    @Test
    void withTheLockNoneMay() {
        fails(Samples.result(WITHOUT, with(100, 0, 1, 100, 0), KILL, FROZEN), "lost 1 updates");
    }

    @Test
    void allItemsMustBeSold() {
        fails(Samples.result(WITHOUT, with(99, 0, 1, 99, 0), KILL, FROZEN), "99 of 100 items");
    }

    @Test
    void theFileMustHaveCountedTheSameSales() {
        fails(Samples.result(WITHOUT, with(100, 0, 0, 101, 0), KILL, FROZEN), "101 writes for 100 sales");
    }

    @Test
    void tokensMustRise() {
        fails(Samples.result(WITHOUT, with(100, 0, 0, 100, 2), KILL, FROZEN), "2 repeated");
    }

    @Test
    void aHolderMustNotBeRefused() {
        fails(Samples.result(WITHOUT, with(100, 1, 0, 100, 0), KILL, FROZEN), "1 holders refused");
    }

    @Test
    void theGrantAfterTheKillMustHaveAHigherToken() {
        Drill.Kill kill = new Drill.Kill(Duration.ofSeconds(1), 36, 36);
        fails(Samples.result(WITHOUT, WITH, kill, FROZEN), "token 36 was followed by 36");
    }

    @Test
    void theLateWriteMustBeRefusedAndTheLeaseMustKnow() {
        Duration time = Duration.ofSeconds(1);
        fails(Samples.result(WITHOUT, WITH, KILL, new Drill.Frozen(time, 7, 8, false, false)), "accepted");
        fails(Samples.result(WITHOUT, WITH, KILL, new Drill.Frozen(time, 7, 8, true, true)), "isHeld=true");
    }
}
