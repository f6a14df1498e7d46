// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Generates the manual page from the help texts of the commands. See ADR 0025. */
final class ManPage {
    private final CommandSpec top;
    private final RoffWriter page;

    private ManPage(CommandSpec top) {
        this.top = top;
        this.page =
                new RoffWriter(top.name(), String.join(" ", top.version()).replaceFirst(", Java .*", ""), "Mortise");
    }

    static String of(CommandSpec top) {
        return new ManPage(top).write();
    }

    private String write() {
        page.section("NAME")
                .paragraph(top.name() + " - "
                        + lines(top.usageMessage().description()).get(0));
        page.section("SYNOPSIS").paragraph(synopsis(top));
        page.section("OPTIONS").paragraph("These options may be given before or after the command:");
        top.options().stream().filter(option -> !option.hidden()).forEach(this::option);
        page.section("COMMANDS");
        commands().forEach(this::command);
        page.section("EXIT STATUS");
        top.usageMessage().exitCodeList().forEach((code, meaning) -> page.item(code.strip(), lines(meaning)));
        page.section("ENVIRONMENT");
        ManPageEnvironmentAndFiles.ENVIRONMENT.forEach((name, meaning) -> page.item(name, List.of(meaning)));
        page.section("FILES");
        ManPageEnvironmentAndFiles.FILES.forEach((name, meaning) -> page.item(name, List.of(meaning)));
        page.section("EXAMPLES")
                .verbatim(commands()
                        .flatMap(command ->
                                lines(command.usageMessage().footer()).stream().limit(1))
                        .toList());
        return page.toString();
    }

    private void command(CommandSpec command) {
        page.subsection(command.name());
        List<String> shown = new ArrayList<>(lines(command.usageMessage().header()));
        shown.addAll(lines(command.usageMessage().description()));
        shown.stream().limit(1).forEach(page::paragraph);
        page.paragraph(synopsis(command));
        shown.stream().skip(1).forEach(page::paragraph);
        command.positionalParameters().stream()
                .filter(parameter -> !parameter.hidden())
                .forEach(this::parameter);
        command.options().stream()
                .filter(option ->
                        !option.hidden() && !option.inherited() && !option.usageHelp() && !option.versionHelp())
                .forEach(this::option);
        List<String> examples = lines(command.usageMessage().footer());
        if (!examples.isEmpty()) {
            page.verbatim(examples);
        }
    }

    private void option(OptionSpec option) {
        String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
        page.item(String.join(", ", option.names()) + value, lines(option.description()));
    }

    private void parameter(PositionalParamSpec parameter) {
        page.item(parameter.paramLabel(), lines(parameter.description()));
    }

    private Stream<CommandSpec> commands() {
        return top.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> !command.usageMessage().hidden())
                .distinct();
    }

    private static String synopsis(CommandSpec command) {
        Help help = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF));
        return help.synopsis(0).strip().replaceAll("\\s+", " ");
    }

    /** Returns the lines as the help shows them, with picocli's %n and %% replaced. */
    private static List<String> lines(String... texts) {
        return Arrays.stream(texts)
                .flatMap(text -> text.replace("%n", "\n").replace("%%", "%").lines())
                .toList();
    }
}
