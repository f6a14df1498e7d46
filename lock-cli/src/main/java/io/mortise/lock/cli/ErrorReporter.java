// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.cli.invocation.EscapedTerminalText;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Turns a failure into one line that says what to do, and an exit code. */
final class ErrorReporter {
    private final LockCtl top;

    ErrorReporter(LockCtl top) {
        this.top = top;
    }

    /** Most often a variable of a script that is not set: told before it is taken for a value, whatever the option takes. */
    static void refuseEmptyOptions(ParseResult parsed) {
        for (ParseResult part = parsed; part != null; part = part.subcommand()) {
            for (OptionSpec option : part.matchedOptions()) {
                if (option.stringValues().contains("")) {
                    throw empty(part.commandSpec().commandLine(), option);
                }
            }
        }
    }

    private static ParameterException empty(CommandLine command, OptionSpec option) {
        return new ParameterException(command, "option '" + option.longestName() + "' is empty");
    }

    int usage(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        boolean isEmpty = "".equals(problem.getValue());
        return print(
                command,
                isEmpty && problem.getArgSpec() instanceof OptionSpec option ? empty(command, option) : problem,
                ExitCodes.USAGE,
                "try '" + command.getCommandSpec().qualifiedName() + " --help'");
    }

    int failure(Exception failure, CommandLine command, @Nullable ParseResult parsed) {
        int code = ExitCodes.of(failure);
        return print(command, failure, code, remedy(code));
    }

    private int print(CommandLine command, Exception problem, int code, String remedy) {
        String message = Objects.requireNonNullElse(problem.getMessage(), problem.toString());
        String line = message.lines().map(String::strip).reduce("", (a, b) -> a.isEmpty() ? b : a + " " + b);
        command.getErr()
                .println("lockctl: " + EscapedTerminalText.safe(line) + (remedy.isEmpty() ? "" : "; " + remedy));
        if (top.verbose()) {
            problem.printStackTrace(command.getErr());
        }
        command.getErr().flush();
        return code;
    }

    private static String remedy(int code) {
        return switch (code) {
            case ExitCodes.UNAVAILABLE -> "check that the server runs and that the address is right";
            case ExitCodes.SOFTWARE -> "run again with -v for the trace";
            default -> ""; // also of a refusal: only the backend knows what would help
        };
    }
}
