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
 * All commands of lockctl, created only when they are named. Only those that a command line can be about are made: to read
 * what one takes costs ten milliseconds (ADR 0041).
 */
final class CommandRegistry {
    /** In the order of the help. */
    static final List<String> NAMES =
            List.of("run", "hold", "who", "list", "watch", "release", "doctor", "bench", "completion", "man");

    private CommandRegistry() {}

    /** All that people call. */
    static CommandLine all(LockCtl top) {
        return with(top, NAMES);
    }

    /** Those that are among these arguments; all if the first is none of them. */
    static CommandLine under(LockCtl top, String... args) {
        List<String> words = Arrays.asList(args);
        boolean named = !words.isEmpty() && NAMES.contains(words.get(0));
        return with(top, named ? NAMES.stream().filter(words::contains).toList() : NAMES);
    }

    private static CommandLine with(LockCtl top, List<String> names) {
        CommandLine line = new CommandLine(top);
        names.forEach(name -> line.addSubcommand(name, made(name)));
        return line;
    }

    private static Object made(String name) {
        return switch (name) {
            case "run" -> new RunCommand();
            case "hold" -> new HoldCommand();
            case "who" -> new WhoCommand();
            case "list" -> new ListCommand();
            case "watch" -> new WatchCommand();
            case "release" -> new ReleaseCommand();
            case "doctor" -> new DoctorCommand();
            case "bench" -> new BenchCommand();
            case "completion" -> new CompletionCommand(LockCtl::complete);
            case "man" -> new ManCommand(LockCtl::complete);
            default -> throw new IllegalArgumentException(name);
        };
    }
}
