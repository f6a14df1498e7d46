// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.cli.invocation.CommandLineBytes;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.DefaultStoreUrl;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.LoggingSetup;
import io.mortise.lock.cli.invocation.TerminalTextEscaper;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Implements {@code lockctl}, the top-level command, which parses the common options and runs one subcommand. */
@Command(
        name = "lockctl",
        description = "Distributed locks from the shell.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:the result is negative: the lock is busy, free or held by another client, or doctor found a problem",
            "64:the command line or the URL is invalid",
            "69:the server cannot be reached",
            "70:an internal error of lockctl",
            "74:a file could not be read or written, or a process could not be started",
            "75:run, hold: the lock was lost",
            "77:the server refused the request (authentication, permissions)"
        })
public final class LockCtl implements Runnable, CommonOptionValues {
    private final DefaultStoreUrl defaults = new DefaultStoreUrl(System.getenv());

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            completionCandidates = UrlSchemeCandidates.class,
            scope = ScopeType.INHERIT,
            description = {
                "URL of the store, such as redis://host:6379, zookeeper://h1,h2,h3/base, etcd://host:2379 or"
                        + " redlock://h1,h2,h3.",
                "Default: MORTISE_URL, or else url=URL in the file that MORTISE_CONFIG names or in"
                        + " ~/.config/mortise/lockctl.properties. Put a URL that contains a password into that file."
            })
    private @Nullable String url;

    @Option(names = "--json", scope = ScopeType.INHERIT, description = "Print JSON.")
    private boolean json;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Show log messages, and the stack trace of an error.")
    private boolean verbose;

    private boolean warned;

    private LockCtl() {}

    public static void main(String[] args) {
        CheckedStandardOutput standardOutput = new CheckedStandardOutput(System.out);
        PrintWriter out = new PrintWriter(standardOutput, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = run(out, err, CommandLineBytes.decodeAsUtf8(args));
        out.flush();
        standardOutput
                .errorMessage()
                .ifPresent(error -> err.println("lockctl: cannot write to standard output: " + error));
        ProcessExit.with(code == ExitCodes.OK ? standardOutput.exitCode() : code);
    }

    /** Runs one command line and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        try {
            return execute(out, err, args);
        } catch (Error | RuntimeException e) { // the JVM would exit with 1, which means that the lock is busy
            err.println("lockctl: internal error: " + TerminalTextEscaper.safe(e.toString()));
            e.printStackTrace(err);
            err.flush();
            return ExitCodes.SOFTWARE;
        }
    }

    private static int execute(PrintWriter out, PrintWriter err, String... args) {
        LockCtl top = new LockCtl();
        ErrorReporter errors = new ErrorReporter(top);
        return CommandRegistry.forArguments(top, args)
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false) // an argument of the command that "run" starts may begin with @
                .setParameterExceptionHandler(errors::usage)
                .setExecutionExceptionHandler(errors::failure)
                .setExecutionStrategy(parsed -> {
                    ErrorReporter.refuseEmptyOptions(parsed);
                    LoggingSetup.configure(top.verbose);
                    return new RunLast().execute(parsed);
                })
                .execute(args);
    }

    static LockCtl create() {
        return new LockCtl();
    }

    /** Returns the parser with all commands, for the manual page and shell completion. */
    static CommandLine withAllCommands() {
        return CommandRegistry.all(create());
    }

    @Override
    public Optional<String> urlIfGiven() {
        return Optional.ofNullable(url).or(defaults::url);
    }

    @Override
    public String url() {
        String given = urlIfGiven()
                .orElseThrow(() -> new LockConfigurationException("no store is given: " + defaults.howTo()));
        if (url == null && !warned) {
            warned = true;
            defaults.warning()
                    .ifPresent(
                            text -> spec.commandLine().getErr().println("lockctl: " + TerminalTextEscaper.safe(text)));
        }
        return given;
    }

    @Override
    public boolean json() {
        return json;
    }

    @Override
    public boolean verbose() {
        return verbose;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }
}
