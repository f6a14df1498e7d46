// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.scenario.CompetitorRoundRunner;
import io.mortise.lock.benchmark.scenario.ExclusionViolationException;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.jr.ob.JSON;

/**
 * Runs each round of a scenario in a new JVM with the options of this one, while the store stays here.
 *
 * @param scenario one of {@link io.mortise.lock.benchmark.scenario.Scenarios#cold}
 */
record ColdScenario(Scenario scenario) implements Scenario {
    /** Returns another name than that of the scenario, since the goals refer to a JVM that is warm. */
    @Override
    public String name() {
        return scenario.name() + "-cold";
    }

    @Override
    public String description() {
        return scenario.description() + ", in a new JVM";
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("org.slf4j.simpleLogger."))
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ColdRoundMain.class.getName()));
        command.addAll(new ColdRoundMain.Arguments(
                        round.backend().name(),
                        scenario.name(),
                        round.competitor().name(),
                        round.endpoint(),
                        Math.toIntExact(round.roundSize().measured().toSeconds()))
                .toList());
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return measurements(round.toString(), child.waitFor(), output);
        } finally {
            child.destroyForcibly();
        }
    }

    /**
     * Returns the measurements that a child has written.
     *
     * @param output what it wrote to its standard output: the measurements, or the message about a violation
     */
    static RoundMeasurements measurements(String round, int exitCode, String output) throws Exception {
        return switch (exitCode) {
            case BenchmarkExitCodes.OK -> JSON.std.beanFrom(RoundMeasurements.class, output);
            case BenchmarkExitCodes.FAILED -> throw new ExclusionViolationException(output.strip());
            default -> throw new IllegalStateException(round + ": the new JVM ended with exit code " + exitCode);
        };
    }
}
