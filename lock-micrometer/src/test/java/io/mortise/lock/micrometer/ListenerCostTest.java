// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the program for the figures in {@code docs/observability.md} measures each kind of listener. With
 * {@code -Dmortise.cost.repeat=8} it runs as long as figures need, and prints them.
 */
@Tag("long")
class ListenerCostTest {
    private static final int REPEAT = Integer.getInteger("mortise.cost.repeat", 0);

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES) // for a run that prints figures
    void theProgramMeasuresEachListener() throws Exception {
        for (int repeat = 0; repeat < Math.max(1, REPEAT); repeat++) {
            for (ListenerCost.Observed observed : ListenerCost.Observed.values()) {
                String figures = measured(observed);
                assertThat(figures).matches(observed + " \\d+ ns [1-9]\\d+ bytes");
                if (REPEAT > 0) {
                    System.out.println(figures);
                }
            }
        }
    }

    private static String measured(ListenerCost.Observed observed) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ListenerCost.class.getName(),
                        observed.name(),
                        REPEAT > 0 ? "30" : "1",
                        REPEAT > 0 ? "50000" : "10")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
