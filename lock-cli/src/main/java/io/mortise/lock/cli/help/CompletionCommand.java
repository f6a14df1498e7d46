// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import io.mortise.lock.cli.invocation.ExitCodes;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Implements {@code lockctl completion}, which prints a completion script for bash or zsh. */
@Command(
        name = "completion",
        header = "Prints a script that lets the shell complete lockctl commands with the tab key.",
        description = "Completes commands, options, and option values with few choices. Load the script in the shell.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(lockctl completion bash)                                       # in this shell",
            "  lockctl completion bash > ~/.local/share/bash-completion/completions/lockctl  # in all new shells",
            "  lockctl completion zsh > ~/.lockctl-completion  # and in ~/.zshrc: source ~/.lockctl-completion"
        })
public final class CompletionCommand implements Callable<Integer> {
    /** The supported shells. Both load the same script: zsh does so by its bashcompinit. */
    enum Shell {
        bash,
        zsh
    }

    private final Supplier<CommandLine> all;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    /** @param all supplies the top-level command with all subcommands */
    public CompletionCommand(Supplier<CommandLine> all) {
        this.all = all;
    }

    @Override
    public Integer call() {
        CommandLine top = all.get();
        spec.commandLine().getOut().println("# Completion of lockctl in " + shell + ".");
        spec.commandLine().getOut().print(AutoComplete.bash(top.getCommandName(), top));
        spec.commandLine().getOut().flush();
        return ExitCodes.OK;
    }
}
