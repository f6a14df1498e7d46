// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import io.mortise.lock.cli.invocation.ExitCodes;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code lockctl man}, which prints the manual page. */
@Command(
        name = "man",
        header = "Prints the manual page.",
        description =
                "The page describes all commands with their options and examples, exit codes, environment variables and"
                        + " files, in the format that the man program reads.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  lockctl man | man -l -", "  lockctl man > /usr/local/share/man/man1/lockctl.1"})
public final class ManCommand implements Callable<Integer> {
    private final Supplier<CommandLine> all;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** @param all supplies the top-level command with all subcommands */
    public ManCommand(Supplier<CommandLine> all) {
        this.all = all;
    }

    @Override
    public Integer call() {
        spec.commandLine().getOut().print(ManPage.of(all.get().getCommandSpec()));
        spec.commandLine().getOut().flush();
        return ExitCodes.OK;
    }
}
