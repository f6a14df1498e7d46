// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DemoOutputTest {
    @Test
    void tableShowsAllResults() {
        assertThat(DemoResultTable.of(SampleResults.good())).isEqualTo("""
                                            without lock     with lock
                sales acknowledged                   100           100
                stock removed                         40           100
                updates lost                          60             0
                hand-offs between workers              -            70
                tokens in order                        -           yes
                late writes refused                    -             1
                recovery, holder killed                -         4.1 s
                recovery, holder frozen                -         4.0 s

                All checks passed, in 14.0 s.
                """);
    }

    @Test
    void tableShowsFailedChecks() {
        OverallDemoResult result = SampleResults.result(
                SampleResults.WITHOUT, SampleResults.WITHOUT, SampleResults.KILL, SampleResults.FROZEN);

        assertThat(DemoResultTable.of(result))
                .contains("FAILED: the run with the lock lost 60 updates")
                .doesNotContain("All checks passed");
    }

    @Test
    void jsonContainsAllResults() throws IOException {
        assertThat(DemoResultJson.of(SampleResults.good()))
                .isEqualTo("{\"ok\":true,\"failures\":[],\"url\":\"zookeeper://h:2181\",\"workers\":4,\"items\":100,"
                        + "\"withoutLock\":{\"sales\":100,\"stockRemoved\":40,\"lost\":60},"
                        + "\"withLock\":{\"sales\":100,\"stockRemoved\":100,\"lost\":0,\"handOffs\":70,\"refused\":1,"
                        + "\"tokensInOrder\":true},"
                        + "\"killed\":{\"recoveryMillis\":4140,\"token\":35,\"nextToken\":36},"
                        + "\"frozen\":{\"recoveryMillis\":3960,\"token\":70,\"nextToken\":71,"
                        + "\"lateWriteRefused\":true,\"isHeldAfterwards\":false},\"millis\":14000}");
    }

    @Test
    void progressInAPipeHasPlainLinesAndFewStatusLines() {
        StringWriter out = new StringWriter();
        ProgressPrinter progress = new ProgressPrinter(new PrintWriter(out), false);

        progress.line("one");
        for (int i = 0; i < 100; i++) {
            progress.status("status");
        }
        progress.line("two");

        assertThat(out.toString().lines()).containsExactly("one", "two");
        assertThat(out.toString()).doesNotContain("\r", "\u001b");
    }

    @Test
    void secondsHaveOneDecimal() {
        assertThat(ProgressPrinter.seconds(Duration.ofMillis(50))).isEqualTo("0.1 s");
        assertThat(ProgressPrinter.seconds(Duration.ofMillis(3_960))).isEqualTo("4.0 s");
        assertThat(ProgressPrinter.seconds(Duration.ofMillis(61_240))).isEqualTo("61.2 s");
    }
}
