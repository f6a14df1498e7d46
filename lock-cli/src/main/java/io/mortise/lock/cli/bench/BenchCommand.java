// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import io.mortise.lock.LockClient;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.DurationConverter;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonFormatter;
import io.mortise.lock.cli.invocation.LoggingSetup;
import io.mortise.lock.spi.LockUrl;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Implements {@code lockctl bench}, which measures how fast the user's store grants and releases locks. */
@Command(
        name = "bench",
        header = "Measures how fast the store grants and releases locks.",
        description = {
            "Performs two runs, each after a warm-up. \"own locks\": each thread acquires and releases a lock of its own."
                    + " \"one lock\": all threads, half of them in a second client, acquire and release the same lock.",
            "The lock names begin with lockctl-bench/ and are unique to each run; nothing is left in the store. The benchmark"
                    + " puts load on the store: think twice before you run it on a store that others need.",
            "The result is a quick measurement of a single run; on a busy machine it says little."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  lockctl bench --url redis://localhost:6379", "  lockctl bench --threads 16 --time 10s --json"})
public final class BenchCommand implements Callable<Integer> {
    private static final int MAX_THREADS = 1_000;
    private static final Duration MIN_TIME = Duration.ofMillis(100);
    private static final Duration MAX_TIME = Duration.ofMinutes(10);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptionValues given;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "4",
            description = "Number of threads, 2 to 1000. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--time",
            paramLabel = "DURATION",
            defaultValue = "3s",
            converter = DurationConverter.class,
            description = "Measured time of each run. Default: ${DEFAULT-VALUE}.")
    private Duration time = Duration.ZERO;

    @Option(
            names = "--warm-up",
            paramLabel = "DURATION",
            defaultValue = "1s",
            converter = DurationConverter.class,
            description = "Warm-up time of each run, which is not measured. Default: ${DEFAULT-VALUE}.")
    private Duration warmUp = Duration.ZERO;

    @Override
    public Integer call() throws InterruptedException {
        if (threads < 2 || threads > MAX_THREADS) {
            throw invalid("--threads is " + threads + ", must be from 2 to " + MAX_THREADS);
        }
        if (time.compareTo(MIN_TIME) < 0 || time.compareTo(MAX_TIME) > 0 || warmUp.compareTo(MAX_TIME) > 0) {
            throw invalid("--time must be from 100ms to 10m, and --warm-up at most 10m");
        }
        CommonOptionValues invocation = Objects.requireNonNull(given);
        if (!invocation.verbose()) {
            LoggingSetup.errorsOnly("io.mortise.lock"); // doctor shows what the client warns of at startup
        }
        PrintWriter out = spec.commandLine().getOut();
        String run = "lockctl-bench/" + UUID.randomUUID() + "/";
        try (LockClient one = invocation.connect();
                LockClient two = invocation.connect();
                CloseOnExit atExit = CloseOnExit.closing(one, two)) {
            AcquireReleaseLoop loop = new AcquireReleaseLoop(threads, warmUp, time);
            if (!invocation.json()) {
                out.println(threads + " threads, " + time.toMillis() / 1e3 + " s each; times in milliseconds");
                out.println(LatencyResult.HEADER);
                out.flush();
            }
            LatencyResult ownLocks = loop.run("own locks", thread -> one.named(run + thread));
            if (!invocation.json()) {
                out.println(ownLocks.line());
                out.flush();
            }
            LatencyResult oneLock = loop.run("one lock", thread -> (thread % 2 == 0 ? one : two).named(run + "one"));
            out.println(invocation.json() ? JsonFormatter.of(json(invocation, ownLocks, oneLock)) : oneLock.line());
            out.flush();
        }
        return ExitCodes.OK;
    }

    private ParameterException invalid(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private Map<String, Object> json(CommonOptionValues invocation, LatencyResult ownLocks, LatencyResult oneLock) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("url", LockUrl.parse(invocation.url()).toString());
        object.put("threads", threads);
        object.put("seconds", time.toMillis() / 1e3);
        object.put("ownLocks", ownLocks.json());
        object.put("oneLock", oneLock.json());
        return object;
    }
}
