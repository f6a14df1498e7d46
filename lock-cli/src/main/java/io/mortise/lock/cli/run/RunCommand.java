// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.ExitCodes;
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
 * The command {@code lockctl run}: runs a command while a lock is held. What it does is in {@link GuardedRun}, so that only then
 * native code is loaded.
 */
@Command(
        name = "run",
        header = "Runs a command while holding a lock.",
        customSynopsis =
                "lockctl run [-n | -w DURATION] [-E CODE] [--on-loss=kill|warn] [--lease DURATION] [--keep-url]"
                        + " [-u URL] [-v] NAME -- COMMAND...",
        description = {
            "The command has our standard input, output and terminal. INT, TERM and HUP are passed on to it and to all that it"
                    + " starts, its process group. When it has ended the lock is released, also if something that it"
                    + " started still runs.",
            "If the lease cannot be renewed the group gets TERM when a third of the lease is left, and KILL before another"
                    + " can have the lock; if the lock is taken away it gets KILL at once. So it does if lockctl itself is"
                    + " killed, or stopped for longer than the lease. What has left the process group, such as a daemon, or"
                    + " runs as another user is not reached: give the resource the token.",
            "The command finds LOCK_NAME, LOCK_OWNER, LOCK_FENCING_TOKEN (if the store has tokens) and LOCK_DEADLINE_MILLIS,"
                    + " the end of the lease in Unix time as it was at the start; it is renewed since. It does not find MORTISE_URL,"
                    + " unless with --keep-url."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl run -n nightly-report -- ./report.sh        # unless it runs already, on whatever machine",
            "  lockctl run -w 30s deploy/web -- make deploy        # waits at most 30 s for the lock",
            "  lockctl run db -- sh -c 'psql -v token=$LOCK_FENCING_TOKEN -f migrate.sql'"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0-255:the command's own; 128+N if signal N killed it, or came while we waited",
            "1:the lock is busy (-E changes it)",
            "64:the command line or the URL is wrong",
            "69:the store cannot be reached",
            "74:the watchdog could not be started",
            "75:the lock was lost, or the command was told to end because it might be",
            "77:the server refused (password, permission)",
            "126:the command cannot be executed",
            "127:the command was not found"
        })
public final class RunCommand implements Callable<Integer> {
    private static final String SEPARATOR = "--";
    private static final int MOST_OF_A_NAME = 64;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptions given;

    @Mixin
    private LockArguments lock = new LockArguments();

    @Option(
            names = "--on-loss",
            paramLabel = "kill|warn",
            defaultValue = "kill",
            description =
                    "When the lock is lost: end the command, or only say so and let it go on; the exit code is 75 in both"
                            + " cases. Default: ${DEFAULT-VALUE}.")
    private LossPolicy onLoss = LossPolicy.KILL;

    @Option(
            names = "--keep-url",
            description =
                    "Leave MORTISE_URL, which may have a password in it, to the command, such as for a lockctl in it.")
    private boolean keepUrl;

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock's name.")
    private String name = "";

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "What to run, with its arguments; always behind --.")
    private List<String> command = List.of();

    @Override
    public Integer call() throws InterruptedException {
        LoggingSetup.times();
        checkSeparator();
        if (File.separatorChar != '/') {
            throw new CommandFailedException(
                    ExitCodes.USAGE, "run needs process groups, which Windows does not have; hold works there");
        }
        CommonOptions invocation = Objects.requireNonNull(given);
        PrintWriter err = spec.commandLine().getErr();
        SignalForwarding signals = SignalForwarding.listen();
        AsyncMessagePrinter announcer = new AsyncMessagePrinter(line -> err.println("lockctl: " + line));
        GuardedRun run = prepared(announcer);
        int code = lock.locked(name, metadata(), invocation, signals, err, run.saysThatItWaits(), lease -> {
            try (announcer) { // what is said after that comes after it
                return run.under(lease, signals);
            }
        });
        if (run.interruptedByTerminal(code, signals)) {
            JobControl.interruptOurJob();
        }
        signals.dieIfInterrupted(code);
        return code;
    }

    private GuardedRun prepared(AsyncMessagePrinter announcer) {
        try {
            return GuardedRun.prepare(command, onLoss, keepUrl, announcer::say);
        } catch (LinkageError e) {
            throw new CommandFailedException(
                    ExitCodes.IO,
                    "cannot load native code, which run needs: " + e.getMessage()
                            + " (JNA unpacks it into a folder that must be writable and not mounted noexec; name one with"
                            + " JDK_JAVA_OPTIONS=-Djna.tmpdir=FOLDER)");
        }
    }

    /** Without it an option behind the name would be ours or the command's, depending on how it is spelt. */
    private void checkSeparator() {
        List<String> all = spec.commandLine().getParseResult().originalArgs();
        int at = all.indexOf(SEPARATOR);
        if (at < 0 || all.size() - at - 1 != command.size()) {
            throw new ParameterException(
                    spec.commandLine(), "the command must stand behind " + SEPARATOR + ", and one name before it");
        }
    }

    private Map<String, String> metadata() {
        String program = new File(command.get(0)).getName();
        return program.isEmpty() || program.length() > MOST_OF_A_NAME ? Map.of() : Map.of("command", program);
    }
}
