// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import io.mortise.lock.LockClient;
import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.DurationConverter;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
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

/** The command {@code lockctl bench}: a quick figure on the user's own store. */
@Command(
        name = "bench",
        header = "Measures how fast the store takes and releases locks.",
        description = {
            "Two runs, each after a second that does not count. \"own locks\": each thread takes and releases a lock of its own."
                    + " \"one lock\": the same number of threads, half of them in a second client, hand one lock to each other.",
            "The names begin with lockctl-bench/ and are nobody else's; nothing of them is left in the store. It is load: think"
                    + " before you run it on a store that others need.",
            "A quick figure, of one run: on a busy machine it says little."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  lockctl bench --url redis://localhost:6379", "  lockctl bench --threads 16 --time 10s --json"})
public final class BenchCommand implements Callable<Integer> {
    private static final int MOST_THREADS = 1_000;
    private static final Duration LEAST = Duration.ofMillis(100);
    private static final Duration MOST = Duration.ofMinutes(10);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptions given;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "4",
            description = "Threads, 2 to 1000. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--time",
            paramLabel = "DURATION",
            defaultValue = "3s",
            converter = DurationConverter.class,
            description = "How long each run counts. Default: ${DEFAULT-VALUE}.")
    private Duration time = Duration.ZERO;

    @Option(
            names = "--warm-up",
            paramLabel = "DURATION",
            defaultValue = "1s",
            converter = DurationConverter.class,
            description = "How long each run goes on before that. Default: ${DEFAULT-VALUE}.")
    private Duration warmUp = Duration.ZERO;

    @Override
    public Integer call() throws InterruptedException {
        if (threads < 2 || threads > MOST_THREADS) {
            throw wrong("--threads is " + threads + ", must be from 2 to " + MOST_THREADS);
        }
        if (time.compareTo(LEAST) < 0 || time.compareTo(MOST) > 0 || warmUp.compareTo(MOST) > 0) {
            throw wrong("--time must be from 100ms to 10m, and --warm-up at most 10m");
        }
        CommonOptions invocation = Objects.requireNonNull(given);
        if (!invocation.verbose()) {
            LoggingSetup.errorsOnly("io.mortise.lock"); // what a client warns of at its start is for doctor
        }
        PrintWriter out = spec.commandLine().getOut();
        String run = "lockctl-bench/" + UUID.randomUUID() + "/";
        try (LockClient one = invocation.connect();
                LockClient two = invocation.connect();
                CloseOnExit atExit = CloseOnExit.closing(one, two)) {
            AcquireReleaseLoop cycles = new AcquireReleaseLoop(threads, warmUp, time);
            if (!invocation.json()) {
                out.println(threads + " threads, " + time.toMillis() / 1e3 + " s each; times in milliseconds");
                out.println(LatencyFigures.HEADER);
                out.flush();
            }
            LatencyFigures own = cycles.run("own locks", thread -> one.named(run + thread));
            if (!invocation.json()) {
                out.println(own.line());
                out.flush();
            }
            LatencyFigures shared = cycles.run("one lock", thread -> (thread % 2 == 0 ? one : two).named(run + "one"));
            out.println(invocation.json() ? JsonText.of(json(invocation, own, shared)) : shared.line());
            out.flush();
        }
        return ExitCodes.OK;
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private Map<String, Object> json(CommonOptions invocation, LatencyFigures own, LatencyFigures shared) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("url", LockUrl.parse(invocation.url()).toString());
        object.put("threads", threads);
        object.put("seconds", time.toMillis() / 1e3);
        object.put("ownLocks", own.json());
        object.put("oneLock", shared.json());
        return object;
    }
}
