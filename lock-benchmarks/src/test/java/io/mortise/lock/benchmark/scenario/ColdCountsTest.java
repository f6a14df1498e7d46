// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ColdCountsTest {
    private static double sum(ColdCounts counts) {
        return counts.rates().stream().mapToDouble(Double::doubleValue).sum();
    }

    @Test
    void onlyHandOffsCountWhereClientsCompete() {
        ColdCounts handOffs = new ColdCounts(60, true);
        ColdCounts all = new ColdCounts(60, false);
        for (boolean handedOff : new boolean[] {true, false, true}) {
            assertThat(handOffs.completed(handedOff)).as("there is time left").isTrue();
            assertThat(all.completed(handedOff)).isTrue();
        }
        assertThat(sum(handOffs)).isEqualTo(2);
        assertThat(sum(all)).isEqualTo(3);
        assertThat(handOffs.cycles()).isEqualTo(3);
    }

    @Test
    void cycleThatEndsTooLateIsTheLastAndDoesNotCount() {
        ColdCounts counts = new ColdCounts(0, false);
        assertThat(counts.completed(true)).isFalse();
        assertThat(counts.cycles()).isEqualTo(1);
        assertThat(counts.rates()).isEmpty();
    }
}
