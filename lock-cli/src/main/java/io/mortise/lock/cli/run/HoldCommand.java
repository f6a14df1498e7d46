// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
import io.mortise.lock.cli.invocation.LoggingSetup;
import io.mortise.lock.cli.invocation.WaitDurationConverter;
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

/** The command {@code lockctl hold}: holds a lock until it is interrupted. */
@Command(
        name = "hold",
        header = "Holds a lock until it gets a signal.",
        description = {
            "Prints one line once it holds the lock, with --json one object, and releases it on INT (Ctrl-C), TERM or HUP. If the"
                    + " lock is lost it says so and ends with 75.",
            "It ends with the process that started it, such as a script, unless it was started by nohup or setsid, or with"
                    + " --stay.",
            "To do something under the lock, lockctl run is the better way: it ends what it does when the lock is lost."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl hold deploy/web                             # nobody deploys until Ctrl-C",
            "  lockctl hold -n --json maintenance > held.json &    # until kill %%1",
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:held until a signal, the end of what started it, or --max-hold, and released",
            "1:the lock is busy (-E changes it)",
            "64:the command line or the URL is wrong",
            "69:the store cannot be reached",
            "75:the lock was lost",
            "77:the server refused (password, permission)",
            "128+N:signal N came while it waited for the lock"
        })
public final class HoldCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptions given;

    @Mixin
    private LockArguments lock = new LockArguments();

    @Option(
            names = "--max-hold",
            paramLabel = "DURATION",
            converter = WaitDurationConverter.class,
            description = "Release the lock when it was held for so long, such as 1h. Default: without end.")
    private @Nullable Duration longest;

    @Option(names = "--stay", description = "Hold the lock also when the process that started lockctl has ended.")
    private boolean stays;

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock's name.")
    private String name = "";

    @Override
    public Integer call() throws InterruptedException {
        LoggingSetup.times();
        PrintWriter err = spec.commandLine().getErr();
        CommonOptions invocation = Objects.requireNonNull(given);
        SignalForwarding signals = SignalForwarding.listen();
        if (!stays) {
            ParentProcess.watch(signals.ignoresHangup(), () -> {
                signals.pretend(SignalHandlers.TERMINATE);
                err.println("lockctl: ends, as the process that started it has ended");
            });
        }
        boolean terminal = Boolean.getBoolean("lockctl.terminal.err");
        int code = lock.locked(
                name, Map.of(), invocation, signals, err, terminal, lease -> hold(lease, invocation.json(), signals));
        signals.dieIfInterrupted(code);
        return code;
    }

    private int hold(Lease lease, boolean json, SignalForwarding signals) throws InterruptedException {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("name", lease.lockName());
        facts.put("owner", lease.ownerId());
        try {
            facts.put("token", lease.fencingToken());
        } catch (UnsupportedOperationException e) {
            // this store has none
        }
        facts.put("since", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());

        CompletableFuture<String> end = new CompletableFuture<>();
        lease.lost().thenAccept(reason -> end.complete(reason.toString()));
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? JsonText.of(facts) : line(facts));
        out.flush();
        signals.forwardTo(number -> end.complete(""));
        endInTime(lease, end);
        try {
            String loss = end.get();
            if (loss.isEmpty()) {
                return ExitCodes.OK;
            }
            spec.commandLine().getErr().println("lockctl: lock \"" + lease.lockName() + "\" was lost: " + loss);
            return ExitCodes.LOST;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void endInTime(Lease lease, CompletableFuture<String> end) {
        Duration limit = longest;
        if (limit != null) {
            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> {
                        if (end.complete("")) {
                            spec.commandLine()
                                    .getErr()
                                    .println("lockctl: lock \"" + lease.lockName() + "\" is released after "
                                            + limit.toMillis() + " ms, as --max-hold says");
                        }
                    });
        }
    }

    private static String line(Map<String, Object> facts) {
        return facts.entrySet().stream()
                .map(fact -> fact.getKey() + "=" + fact.getValue())
                .collect(Collectors.joining(" ", "held ", ""));
    }
}
