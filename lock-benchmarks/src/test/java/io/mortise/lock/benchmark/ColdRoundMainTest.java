// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.mortise.lock.benchmark.scenario.ExclusionViolationException;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ColdRoundMainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** Runs one round as the new JVM does, and returns what the command makes of its output. */
    private RoundMeasurements run(int permits) throws Exception {
        int code = ColdRoundMain.run(
                List.of(FakeTestBed.startable(
                        () -> new FakeTestBed(List.of(FakeTestBed.competitor("mortise", permits, 1))))),
                new ColdRoundMain.Arguments("fake", "contended", "mortise", "", 1),
                new PrintStream(out, true, StandardCharsets.UTF_8));
        return ColdScenario.measurements("this round", code, out.toString(StandardCharsets.UTF_8));
    }

    @Test
    void measurementsComeInTheOrderOfTheTable() throws Exception {
        RoundMeasurements measured = run(1);

        assertThat(measured.values().keySet())
                .containsExactly(
                        "hand-offs/s", "in second 1", "first grant, ms", "CPU per cycle, ms", "loaded classes");
        assertThat(measured.perSecond()).containsExactly(measured.value("hand-offs/s"));
        assertThat(measured.value("first grant, ms")).isPositive();
    }

    @Test
    void violationOfMutualExclusionIsPassedOn() {
        assertThatExceptionOfType(ExclusionViolationException.class)
                .isThrownBy(() -> run(2))
                .withMessageStartingWith("cold contended, mortise: mutual exclusion violated on lock \"contended\": ");
    }

    @Test
    void otherFailureOfTheNewJvmEndsTheRun() {
        assertThatIllegalStateException()
                .isThrownBy(() -> ColdScenario.measurements("this round", 70, ""))
                .withMessage("this round: the new JVM ended with exit code 70");
    }
}
