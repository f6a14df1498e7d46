// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.cli.bench.BenchCommand;
import io.mortise.lock.cli.help.CompletionCommand;
import io.mortise.lock.cli.help.ManCommand;
import io.mortise.lock.cli.run.HoldCommand;
import io.mortise.lock.cli.run.RunCommand;
import io.mortise.lock.cli.view.DoctorCommand;
import io.mortise.lock.cli.view.ListCommand;
import io.mortise.lock.cli.view.ReleaseCommand;
import io.mortise.lock.cli.view.WatchCommand;
import io.mortise.lock.cli.view.WhoCommand;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;

/**
 * Lists the commands of lockctl, and creates only the ones that the given arguments could name. Reading the options of one
 * command takes ten milliseconds (ADR 0041).
 */
final class CommandRegistry {
    /** The names of all commands, in the order in which the help lists them. */
    static final List<String> NAMES =
            List.of("run", "hold", "who", "list", "watch", "release", "doctor", "bench", "completion", "man");

    private CommandRegistry() {}

    /** Returns the command line parser with all commands. */
    static CommandLine all(LockCtl top) {
        return with(top, NAMES);
    }

    /** Returns the parser with the commands that the arguments contain, or with all commands if the first argument is none. */
    static CommandLine forArguments(LockCtl top, String... args) {
        List<String> arguments = Arrays.asList(args);
        boolean startsWithCommand = !arguments.isEmpty() && NAMES.contains(arguments.get(0));
        return with(
                top,
                startsWithCommand ? NAMES.stream().filter(arguments::contains).toList() : NAMES);
    }

    private static CommandLine with(LockCtl top, List<String> names) {
        CommandLine line = new CommandLine(top);
        names.forEach(name -> line.addSubcommand(name, create(name)));
        return line;
    }

    private static Object create(String name) {
        return switch (name) {
            case "run" -> new RunCommand();
            case "hold" -> new HoldCommand();
            case "who" -> new WhoCommand();
            case "list" -> new ListCommand();
            case "watch" -> new WatchCommand();
            case "release" -> new ReleaseCommand();
            case "doctor" -> new DoctorCommand();
            case "bench" -> new BenchCommand();
            case "completion" -> new CompletionCommand(LockCtl::withAllCommands);
            case "man" -> new ManCommand(LockCtl::withAllCommands);
            default -> throw new IllegalArgumentException(name);
        };
    }
}
