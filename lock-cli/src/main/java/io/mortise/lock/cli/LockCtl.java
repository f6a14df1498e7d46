// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.DefaultOptions;
import io.mortise.lock.cli.invocation.EscapedTerminalText;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.LoggingSetup;
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

/** The top command of lockctl: its subcommands, common options and exit codes. */
@Command(
        name = "lockctl",
        description = "Distributed locks from the shell.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the command ran, and the answer is no",
            "64:the command line or the URL is wrong",
            "69:the server cannot be reached",
            "70:an error inside lockctl",
            "74:a file or a process could not be used",
            "75:run, hold: the lock was lost",
            "77:the server refused (password, permission)"
        })
public final class LockCtl implements Runnable, CommonOptions {
    private final DefaultOptions defaults = new DefaultOptions(System.getenv());

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            completionCandidates = UrlSchemes.class,
            scope = ScopeType.INHERIT,
            description = {
                "The store, such as redis://host:6379, zookeeper://h1,h2,h3/base, etcd://host:2379 or redlock://h1,h2,h3.",
                "Default: MORTISE_URL, or url=URL in ~/.config/mortise/lockctl.properties or the file that MORTISE_CONFIG"
                        + " names: put a URL with a password there."
            })
    private @Nullable String url;

    @Option(names = "--json", scope = ScopeType.INHERIT, description = "Print JSON, for a program.")
    private boolean json;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Show the log, and the trace of an error.")
    private boolean verbose;

    private boolean warned;

    private LockCtl() {}

    public static void main(String[] args) {
        CheckedStandardOutput written = new CheckedStandardOutput(System.out);
        PrintWriter out = new PrintWriter(written, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = run(out, err, args);
        out.flush();
        written.complaint().ifPresent(why -> err.println("lockctl: cannot write to standard output: " + why));
        ProcessExit.with(code == ExitCodes.OK ? written.exitCode() : code);
    }

    /** Runs one command line and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        LockCtl top = new LockCtl();
        ErrorReporter errors = new ErrorReporter(top);
        return CommandRegistry.under(top, args)
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false) // an argument of a command that we run may begin with @
                .setParameterExceptionHandler(errors::usage)
                .setExecutionExceptionHandler(errors::failure)
                .setExecutionStrategy(parsed -> {
                    ErrorReporter.refuseEmptyOptions(parsed);
                    LoggingSetup.configure(top.verbose);
                    return new RunLast().execute(parsed);
                })
                .execute(args);
    }

    static LockCtl made() {
        return new LockCtl();
    }

    /** With all commands, to describe them. */
    static CommandLine complete() {
        return CommandRegistry.all(made());
    }

    @Override
    public Optional<String> urlIfGiven() {
        return Optional.ofNullable(url).or(defaults::url);
    }

    @Override
    public String url() {
        String given = urlIfGiven()
                .orElseThrow(() -> new LockConfigurationException("no store to talk to: " + defaults.howTo()));
        if (url == null && !warned) {
            warned = true;
            defaults.warning()
                    .ifPresent(
                            text -> spec.commandLine().getErr().println("lockctl: " + EscapedTerminalText.safe(text)));
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
