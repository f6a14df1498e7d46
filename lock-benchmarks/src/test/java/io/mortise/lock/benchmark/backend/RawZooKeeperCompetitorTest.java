// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RawZooKeeperCompetitorTest {
    @Test
    void predecessorIsTheNodeImmediatelyBefore() {
        List<String> queue = List.of("lock-0000000012", "lock-0000000009", "lock-0000000010", "lock-0000000011");
        assertThat(RawZooKeeperCompetitor.predecessor(queue, "lock-0000000011")).contains("lock-0000000010");
        assertThat(RawZooKeeperCompetitor.predecessor(queue, "lock-0000000009")).isEmpty();
    }
}
