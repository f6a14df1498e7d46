// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A command of this machine that has ended.
 *
 * @param output standard output and standard error, without white space around it
 */
record FinishedCommand(List<String> command, String output, int exitCode) {
    /** Runs a command, with the Java of this process, until it ends. */
    static FinishedCommand run(Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", "");
        try {
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().putAll(environment);
            int code = builder.redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start()
                    .waitFor();
            return new FinishedCommand(command, Files.readString(output).strip(), code);
        } finally {
            Files.delete(output);
        }
    }

    /** Asserts that the command succeeded; returns its output. */
    String outputOfSuccess() {
        assertThat(exitCode).as("%s: %s", command, output).isZero();
        return output;
    }
}
