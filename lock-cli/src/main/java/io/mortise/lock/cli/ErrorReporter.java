// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.TerminalTextEscaper;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Reports a failed command as one line on standard error, and determines the exit code. */
final class ErrorReporter {
    private static final String ADDRESS = "://";

    private final LockCtl top;

    ErrorReporter(LockCtl top) {
        this.top = top;
    }

    /**
     * Rejects options with an empty value, whatever their type.
     *
     * <p>An empty value usually comes from an unset variable in a script, and must not be taken for a real value.
     */
    static void refuseEmptyOptions(ParseResult parsed) {
        for (ParseResult part = parsed; part != null; part = part.subcommand()) {
            for (OptionSpec option : part.matchedOptions()) {
                if (option.stringValues().contains("")) {
                    throw emptyOption(part.commandSpec().commandLine(), option);
                }
            }
        }
    }

    private static ParameterException emptyOption(CommandLine command, OptionSpec option) {
        return new ParameterException(command, "option '" + option.longestName() + "' is empty");
    }

    /** Reports an error of the command line; returns the exit code. */
    int usage(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        boolean isEmpty = "".equals(problem.getValue());
        return print(
                command,
                isEmpty && problem.getArgSpec() instanceof OptionSpec option
                        ? emptyOption(command, option)
                        : withoutUrl(problem),
                ExitCodes.USAGE,
                "try '" + command.getCommandSpec().qualifiedName() + " --help'");
    }

    /** Returns an error whose message ends where an address begins: a mistyped option may be echoed with a password (S19). */
    private static ParameterException withoutUrl(ParameterException problem) {
        String message = Objects.requireNonNullElse(problem.getMessage(), "");
        int at = message.indexOf(ADDRESS);
        return at < 0
                ? problem
                : new ParameterException(problem.getCommandLine(), message.substring(0, at) + ADDRESS + "***");
    }

    /** Reports a failure of a command that was running; returns the exit code. */
    int failure(Exception failure, CommandLine command, @Nullable ParseResult parsed) {
        int code = ExitCodes.of(failure);
        return print(command, failure, code, remedy(code));
    }

    private int print(CommandLine command, Exception problem, int code, String remedy) {
        String message = Objects.requireNonNullElse(problem.getMessage(), problem.toString());
        String line = message.lines().map(String::strip).reduce("", (a, b) -> a.isEmpty() ? b : a + " " + b);
        command.getErr()
                .println("lockctl: " + TerminalTextEscaper.safe(line) + (remedy.isEmpty() ? "" : "; " + remedy));
        if (top.verbose()) {
            problem.printStackTrace(command.getErr());
        }
        command.getErr().flush();
        return code;
    }

    private static String remedy(int code) {
        return switch (code) {
            case ExitCodes.UNAVAILABLE -> "check that the server is running and that the address is correct";
            case ExitCodes.SOFTWARE -> "run again with -v to see the stack trace";
            default -> ""; // also for REFUSED: only the backend knows a remedy, and its message names it
        };
    }
}
