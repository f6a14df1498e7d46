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

/** The command {@code lockctl completion}: a script for bash or zsh. */
@Command(
        name = "completion",
        header = "Prints a script for completion with the tab key.",
        description =
                "Of commands, options, and values where there are only a few. The shell that is to complete reads it.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(lockctl completion bash)                                       # in this shell",
            "  lockctl completion bash > ~/.local/share/bash-completion/completions/lockctl  # in all that begin later",
            "  lockctl completion zsh > ~/.lockctl-completion  # and in ~/.zshrc: source ~/.lockctl-completion"
        })
public final class CompletionCommand implements Callable<Integer> {
    /** One script for both: zsh reads it by its bashcompinit. */
    enum Shell {
        bash,
        zsh
    }

    private final Supplier<CommandLine> all;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    /** @param all the top command with all of its commands */
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
