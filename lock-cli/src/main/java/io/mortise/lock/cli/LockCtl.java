// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.cli.demo.DemoCommand;
import io.mortise.lock.cli.demo.DemoWorkerCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The top command: {@code lockctl SUBCOMMAND}. */
@Command(
        name = "lockctl",
        description = "Distributed locks from the shell.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {DemoCommand.class, DemoWorkerCommand.class},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the command ran, and the answer is no",
            "64:the command line or the URL is wrong",
            "69:the server cannot be reached",
            "70:an error inside lockctl",
            "74:a file or a process could not be used",
            "77:the server refused (password, permission)"
        })
public final class LockCtl implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Show the log, and the trace of an error.")
    private boolean verbose;

    private LockCtl() {}

    public static void main(String[] args) {
        int code = run(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args);
        System.exit(code);
    }

    /** Runs one command line and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        LockCtl top = new LockCtl();
        Errors errors = new Errors(top);
        return new CommandLine(top)
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(errors::usage)
                .setExecutionExceptionHandler(errors::failure)
                .setExecutionStrategy(parsed -> {
                    Logging.configure(top.verbose);
                    return new RunLast().execute(parsed);
                })
                .execute(args);
    }

    boolean verbose() {
        return verbose;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }
}
