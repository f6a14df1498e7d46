// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that random histories of a correct lock are good, and that the checker finds each kind of damage to them. */
@Tag("once")
class HistoryCheckerModelTest {
    private static final int RUNS = 100;
    private static final HistoryChecker checker = new HistoryChecker(HandwrittenHistory.LIMITS);

    @Test
    void aCorrectHistory_isGood() {
        long grants = 0;
        long staleHolders = 0;
        long refused = 0;
        long losses = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            HistoryReport report = checker.check(ModelRun.events(seed));
            assertThat(report.violations()).as("seed %s: %s", seed, report).isEmpty();
            grants += report.grants();
            staleHolders += report.staleHolders().size();
            refused += report.refusedWrites();
            losses += report.losses();
        }
        assertThat(grants).as("grants").isGreaterThan(RUNS * 20);
        assertThat(staleHolders).as("stale holders after a freeze").isGreaterThan(RUNS / 10);
        assertThat(refused).as("rejected writes").isGreaterThan(RUNS / 10);
        assertThat(losses).as("losses").isGreaterThan(RUNS / 10);
    }

    @ParameterizedTest
    @EnumSource
    void aDamagedHistory_breaksARule(HistoryDamage damage) {
        int damaged = 0;
        List<String> missed = new ArrayList<>();
        for (long seed = 0; seed < RUNS; seed++) {
            Optional<HistoryEdit> bad = damage.to(new HistoryEdit(ModelRun.events(seed), new Random(seed)));
            if (bad.isPresent()) {
                damaged++;
                HistoryReport report = checker.check(bad.get().events());
                if (!damage.isNamedIn(report)) {
                    missed.add("seed " + seed + ": " + report);
                }
            }
        }
        assertThat(damaged).as("histories with this damage").isGreaterThan(3);
        assertThat(missed).as("missed, of " + damaged).isEmpty();
    }
}
