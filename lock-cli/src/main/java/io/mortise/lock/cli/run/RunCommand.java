// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.LockNameConverter;
import io.mortise.lock.cli.invocation.LoggingSetup;
import java.io.File;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * Implements {@code lockctl run}, which acquires a lock, runs a command, and releases the lock when the command ends. The
 * work itself is in {@link CommandRunUnderLease}, so that native code is loaded only when it is needed.
 */
@Command(
        name = "run",
        header = "Runs a command while holding a lock.",
        customSynopsis =
                "lockctl run [-n | -w DURATION] [-E CODE] [--on-loss=kill|warn] [--lease DURATION] [--keep-url]"
                        + " [-u URL] [-v] NAME -- COMMAND...",
        description = {
            "The command uses lockctl's standard input, output and terminal. INT, TERM and HUP are forwarded to its process"
                    + " group: the command and all processes that it starts. When the command has ended, the lock is released,"
                    + " even if processes that it started are still running.",
            "If the lease cannot be renewed, the process group gets TERM when a third of the lease is left, and KILL before"
                    + " another client can acquire the lock. If the lock is taken away, the group gets KILL at once. The same"
                    + " happens if lockctl itself is killed, or stopped for longer than the lease. Processes that have left the"
                    + " group, such as daemons, or that run as another user cannot be reached: let the resource check the fencing"
                    + " token.",
            "The environment of the command contains LOCK_NAME, LOCK_OWNER, LOCK_FENCING_TOKEN (if the store has tokens) and"
                    + " LOCK_DEADLINE_MILLIS, the end of the lease in Unix time as of the start of the command; renewals extend"
                    + " the lease later. MORTISE_URL is removed from the environment, unless --keep-url is given."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl run -n nightly-report -- ./report.sh        # unless already running",
            "  lockctl run -w 30s deploy/web -- make deploy        # waits at most 30 s",
            "  lockctl run db -- sh -c 'psql -v token=$LOCK_FENCING_TOKEN -f migrate.sql'"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0-255:the command's exit code; 128+N if signal N killed it, or arrived while lockctl waited for the lock",
            "1:the lock is busy (-E changes this code)",
            "64:the command line or the URL is invalid",
            "69:the store cannot be reached",
            "74:the watchdog could not be started",
            "75:the lock was lost, or the command was terminated because the lease was about to expire",
            "77:the server refused the request (authentication, permissions)",
            "126:the command cannot be executed",
            "127:the command was not found"
        })
public final class RunCommand implements Callable<Integer> {
    private static final String SEPARATOR = "--";
    private static final int MAX_PROGRAM_NAME_LENGTH = 64;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptionValues given;

    @Mixin
    private LockedWorkMixin lock = new LockedWorkMixin();

    @Option(
            names = "--on-loss",
            paramLabel = "kill|warn",
            defaultValue = "kill",
            description =
                    "What to do when the lock is lost: kill the command, or only warn and let it continue. The exit code is"
                            + " 75 in both cases. Default: ${DEFAULT-VALUE}.")
    private LossPolicy onLoss = LossPolicy.KILL;

    @Option(
            names = "--keep-url",
            description =
                    "Keep MORTISE_URL, which may contain a password, in the environment of the command, for example if the"
                            + " command calls lockctl.")
    private boolean keepUrl;

    @Parameters(index = "0", paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "The command to run and its arguments, after --.")
    private List<String> command = List.of();

    @Override
    public Integer call() throws InterruptedException {
        LoggingSetup.showTimes();
        checkSeparator();
        if (File.separatorChar != '/') {
            throw new CommandFailedException(
                    ExitCodes.USAGE, "run needs process groups, which Windows does not have; hold works there");
        }
        CommonOptionValues invocation = Objects.requireNonNull(given);
        PrintWriter err = spec.commandLine().getErr();
        CurrentStepSignals signals = CurrentStepSignals.listen();
        AsyncMessagePrinter announcer = new AsyncMessagePrinter(line -> err.println("lockctl: " + line));
        CommandRunUnderLease run = prepare(announcer);
        int code = lock.runLocked(name, metadata(), invocation, signals, err, run.reportsWaiting(), lease -> {
            try (announcer) { // closed first, so that messages of the release are printed after those of the run
                return run.under(lease, signals);
            }
        });
        if (run.interruptedByTerminal(code, signals)) {
            JobControl.interruptOurJob();
        }
        signals.dieIfInterrupted(code);
        return code;
    }

    private CommandRunUnderLease prepare(AsyncMessagePrinter announcer) {
        try {
            return CommandRunUnderLease.prepare(command, onLoss, keepUrl, announcer::print);
        } catch (LinkageError e) {
            throw new CommandFailedException(
                    ExitCodes.IO,
                    "cannot load native code, which run needs: " + e.getMessage()
                            + " (JNA unpacks it into a folder that must be writable and not mounted noexec; name one with"
                            + " JDK_JAVA_OPTIONS=-Djna.tmpdir=FOLDER)");
        }
    }

    /** Checks that -- precedes the command, as otherwise an option after the name could belong to lockctl or to the command. */
    private void checkSeparator() {
        List<String> all = spec.commandLine().getParseResult().originalArgs();
        int at = all.indexOf(SEPARATOR);
        if (at < 0 || all.size() - at - 1 != command.size()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "put " + SEPARATOR
                            + " between the lock name and the command, after exactly one name: lockctl run NAME -- COMMAND");
        }
    }

    private Map<String, String> metadata() {
        String program = new File(command.get(0)).getName();
        return program.isEmpty() || program.length() > MAX_PROGRAM_NAME_LENGTH ? Map.of() : Map.of("command", program);
    }
}
