// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBeds;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;

/** Main class of the benchmarks, which runs the command and exits with its exit code. */
public final class BenchmarkMain {
    private BenchmarkMain() {}

    public static void main(String[] args) {
        quiet("defaultLogLevel", "warn");
        // The benchmark disconnects clients and runs servers without passwords on purpose, so warnings about that are
        // noise.
        quiet("log.org.apache", "error");
        quiet("log.io.mortise.lock.zookeeper", "error");
        int code = run(
                TestBeds.all(),
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args);
        System.exit(code);
    }

    /** Sets a log level unless the user set it with -D. Has an effect only before the first logger is created. */
    private static void quiet(String name, String level) {
        String property = "org.slf4j.simpleLogger." + name;
        if (System.getProperty(property) == null) {
            System.setProperty(property, level);
        }
    }

    /** Runs one command line and returns its exit code. */
    static int run(List<TestBeds.Startable> backends, PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new BenchmarkCommand(backends))
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((problem, given) -> {
                    complain(err, problem, "; try 'benchmark --help'");
                    return BenchmarkExitCodes.USAGE;
                })
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    complain(err, failure, "");
                    int code = BenchmarkExitCodes.of(failure);
                    if (code == BenchmarkExitCodes.SOFTWARE) {
                        failure.printStackTrace(err);
                    }
                    return code;
                })
                .execute(args);
    }

    private static void complain(PrintWriter err, Exception problem, String remedy) {
        err.println("benchmark: " + Objects.requireNonNullElse(problem.getMessage(), problem.toString()) + remedy);
    }
}
