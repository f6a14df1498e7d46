// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.FlockDurationConverter;
import io.mortise.lock.cli.invocation.JsonFormatter;
import io.mortise.lock.cli.invocation.LockNameConverter;
import io.mortise.lock.cli.invocation.LoggingSetup;
import io.mortise.lock.spi.LockName;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Implements {@code lockctl hold}, which holds a lock until it receives a signal. */
@Command(
        name = "hold",
        header = "Holds a lock until it receives a signal.",
        description = {
            "Prints one line (with --json, one object) when it has acquired the lock, and releases the lock on INT (Ctrl-C),"
                    + " TERM or HUP. If the lock is lost, it says so and exits with 75.",
            "It also ends when the process that started it ends, such as a script, unless it was started by nohup or setsid, or"
                    + " with --stay.",
            "To run a command under the lock, prefer lockctl run, which ends the command when the lock is lost."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl hold deploy/web                             # until Ctrl-C",
            "  lockctl hold -n --json maintenance > held.json &    # until kill %%1",
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the lock was released, after a signal, the end of the parent process, or --max-hold",
            "1:the lock is busy (-E changes this code)",
            "64:the command line or the URL is invalid",
            "69:the store cannot be reached",
            "75:the lock was lost",
            "77:the server refused the request (authentication, permissions)",
            "128+N:signal N arrived while it waited for the lock"
        })
public final class HoldCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptionValues given;

    @Mixin
    private LockedWorkMixin lock = new LockedWorkMixin();

    @Option(
            names = "--max-hold",
            paramLabel = "DURATION",
            converter = FlockDurationConverter.class,
            description = "Release the lock after holding it for this time, such as 1h. Default: no limit.")
    private @Nullable Duration maxHold;

    @Option(names = "--stay", description = "Keep holding the lock when the process that started lockctl has ended.")
    private boolean stays;

    @Parameters(index = "0", paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Override
    public Integer call() throws InterruptedException {
        LoggingSetup.showTimes();
        PrintWriter err = spec.commandLine().getErr();
        CommonOptionValues invocation = Objects.requireNonNull(given);
        CurrentStepSignals signals = CurrentStepSignals.listen();
        if (!stays) {
            ParentProcess.watch(signals.ignoresHangup(), () -> {
                signals.simulate(SignalHandlerInstaller.TERMINATE);
                err.println("lockctl: exiting, as the process that started it has ended");
            });
        }
        boolean terminal = Boolean.getBoolean("lockctl.terminal.err");
        int code = lock.runLocked(
                name, Map.of(), invocation, signals, err, terminal, lease -> hold(lease, invocation.json(), signals));
        signals.dieIfInterrupted(code);
        return code;
    }

    private WorkResult hold(Lease lease, boolean json, CurrentStepSignals signals) throws InterruptedException {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("name", lease.lockName());
        facts.put("owner", lease.ownerId());
        try {
            facts.put("token", lease.fencingToken());
        } catch (UnsupportedOperationException e) {
            // the store has no fencing tokens
        }
        facts.put("since", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());

        CompletableFuture<String> end = new CompletableFuture<>();
        lease.lost().thenAccept(reason -> end.complete(reason.toString()));
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? JsonFormatter.of(facts) : line(facts));
        out.flush();
        signals.forwardTo(number -> end.complete(""));
        scheduleEnd(lease, end);
        try {
            String loss = end.get(); // empty if the lock was not lost
            if (loss.isEmpty()) {
                return WorkResult.of(ExitCodes.OK);
            }
            spec.commandLine()
                    .getErr()
                    .println("lockctl: lock \"" + LockName.shown(lease.lockName()) + "\" was lost: " + loss);
            return WorkResult.LOST;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the hold after the time of {@code --max-hold}, if that is given. */
    private void scheduleEnd(Lease lease, CompletableFuture<String> end) {
        Duration limit = maxHold;
        if (limit != null) {
            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> {
                        if (end.complete("")) {
                            spec.commandLine()
                                    .getErr()
                                    .println("lockctl: lock \"" + LockName.shown(lease.lockName())
                                            + "\" is released after " + limit.toMillis() + " ms, as set by --max-hold");
                        }
                    });
        }
    }

    private static String line(Map<String, Object> facts) {
        return facts.entrySet().stream()
                .map(fact ->
                        fact.getKey() + "=" + LockName.shown(fact.getValue().toString()))
                .collect(Collectors.joining(" ", "held ", ""));
    }
}
