// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.UsageMessageSpec;

@Tag("once")
class CommandRegistryTest {
    static Stream<CommandLine> commands() {
        return LockCtl.withAllCommands().getSubcommands().values().stream();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandHasAHeaderADescriptionAndAnExample(CommandLine command) {
        UsageMessageSpec help = command.getCommandSpec().usageMessage();
        assertThat(help.header()).hasSize(1);
        assertThat(help.header()[0]).endsWith(".");
        assertThat(help.description()).isNotEmpty();
        assertThat(help.footerHeading()).isEqualTo("%nExamples:%n");
        assertThat(help.footer())
                .anySatisfy(example -> assertThat(example).contains(" " + command.getCommandName()))
                .allSatisfy(example -> assertThat(example).startsWith("  "));
        assertThat(command.getCommandSpec().options())
                .allSatisfy(option -> assertThat(option.description()).isNotEmpty());
        assertThat(command.getCommandSpec().positionalParameters())
                .allSatisfy(parameter -> assertThat(parameter.description()).isNotEmpty());
    }

    @Test
    void theHelpListsAllCommands() {
        String help = CommandLineRun.of("--help").out();
        assertThat(CommandRegistry.NAMES).allSatisfy(name -> assertThat(help).containsPattern("\\n  " + name + " "));
    }

    @Test
    void eachCommandHasTheNameUnderWhichItIsCreated() {
        for (String name : CommandRegistry.NAMES) {
            CommandLine command = created(name).get(0);
            assertThat(command.getCommandSpec()
                            .userObject()
                            .getClass()
                            .getAnnotation(CommandLine.Command.class)
                            .name())
                    .isEqualTo(name);
        }
    }

    @Test
    void onlyCommandsNamedByTheArgumentsAreCreated() {
        assertThat(created("who", "release", "--url", "memory:x")).hasSize(2);
        assertThat(created("--json", "who")).hasSize(CommandRegistry.NAMES.size());
        assertThat(created()).hasSize(CommandRegistry.NAMES.size());
    }

    @Test
    void anOptionMayPrecedeTheCommand() {
        assertThat(CommandLineRun.of("--url", "memory:x", "who", "y").out()).startsWith("y is free");
    }

    private static List<CommandLine> created(String... args) {
        return List.copyOf(CommandRegistry.forArguments(LockCtl.create(), args)
                .getSubcommands()
                .values());
    }

    @Test
    void theManualAndTheCompletionHaveAllCommands() {
        String manual = CommandLineRun.of("man").out();
        String completion = CommandLineRun.of("completion", "bash").out();
        assertThat(CommandRegistry.NAMES).allSatisfy(name -> {
            assertThat(manual).contains(".SS \"" + name + "\"");
            assertThat(completion).contains("_picocli_lockctl_" + name);
        });
    }
}
