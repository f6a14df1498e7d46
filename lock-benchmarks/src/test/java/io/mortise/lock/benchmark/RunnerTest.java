// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.scenario.Effort;
import io.mortise.lock.benchmark.scenario.Figures;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunnerTest {
    private final List<String> order = new ArrayList<>();

    private final Scenario counting = new Scenario() {
        @Override
        public String name() {
            return "counting";
        }

        @Override
        public String description() {
            return "counts its rounds";
        }

        @Override
        public Figures run(Trial trial) {
            order.add(trial.toString().replaceAll(".*, ", ""));
            return new Figures(Map.of("trials before", order.size() - 1.0), Map.of(), "");
        }
    };

    @Test
    void contendersTakeTurnsInAnotherOrderEachRound() throws Exception {
        FakeBackend backend = new FakeBackend(List.of(
                FakeBackend.contender("a", 1, 1), FakeBackend.contender("b", 1, 1), FakeBackend.contender("c", 1, 1)));

        Result result = new Runner(new Effort(Duration.ofMillis(1), true), 1, 3).run(backend, counting);

        assertThat(order).containsExactly("a", "b", "c", "c", "b", "a", "b", "c", "a", "a", "c", "b");
        assertThat(result.contenders()).containsExactly("a", "b", "c");
        assertThat(result.values("a", "trials before"))
                .as("without the warm-up")
                .containsExactly(5.0, 8.0, 9.0);
    }
}
