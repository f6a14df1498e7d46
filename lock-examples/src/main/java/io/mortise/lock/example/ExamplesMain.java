// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.example.demo.DemoWorkerCommand;
import io.mortise.lock.example.demo.SalesDemoCommand;
import io.mortise.lock.example.inventory.InventoryServiceCommand;
import io.mortise.lock.example.inventory.ShopInstanceCommand;
import io.mortise.lock.example.ledger.LedgerSupervisorCommand;
import io.mortise.lock.example.ledger.LedgerWriterCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Main class of the example programs, with the subcommands {@code demo}, {@code inventory} and {@code ledger}. */
@Command(
        name = "example",
        description = "Example programs to copy from. Each starts several processes that share one lock.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            SalesDemoCommand.class,
            DemoWorkerCommand.class,
            InventoryServiceCommand.class,
            ShopInstanceCommand.class,
            LedgerSupervisorCommand.class,
            LedgerWriterCommand.class
        })
public final class ExamplesMain implements Runnable {
    /** Logger of etcd's client, kept in a field because its level would be lost if it were garbage-collected. */
    private static final Logger GRPC = Logger.getLogger("io.grpc");

    private static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @SuppressWarnings("unused") // picocli reads it and prints the help
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    private boolean help;

    /** Runs the example that the first argument names, and exits with its exit code. */
    public static void main(String[] args) {
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        GRPC.setLevel(Level.WARNING); // the logger of etcd's client
        System.exit(run(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args));
    }

    /** Runs one command line and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new ExamplesMain())
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((problem, given) -> {
                    err.println("example: " + problem.getMessage());
                    return USAGE;
                })
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    err.println("example: " + Objects.requireNonNullElse(failure.getMessage(), failure.toString()));
                    if (failure instanceof LockConfigurationException || failure instanceof IllegalArgumentException) {
                        return USAGE;
                    }
                    return failure instanceof BackendUnavailableException ? UNAVAILABLE : 1;
                })
                .execute(args);
    }

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "missing command: use 'demo', 'inventory' or 'ledger'; see --help");
    }
}
