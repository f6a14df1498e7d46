// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page in {@code docs/protocols} that describes one protocol. It holds diagrams and rows that tests compare with the code; with
 * {@code -Dupdate.docs} they are written to it first. Not thread-safe.
 */
public final class ProtocolPage {
    private static final String ARROW = " --> ";

    private final Path file;

    /** @param name the name of the file without {@code .md} */
    public ProtocolPage(String name) {
        this.file = Path.of("..", "docs", "protocols", name + ".md");
    }

    /** Returns the arrow from one phase to another, such as {@code Idle --> Queued}. */
    public static String arrow(Object from, Object to) {
        return World.name(from) + ARROW + World.name(to);
    }

    /** Returns the names of all phases that a sealed type permits, in the order of their declarations. */
    public static List<String> phases(Class<?> sealed) {
        return leaves(sealed).map(Class::getSimpleName).distinct().toList();
    }

    private static Stream<Class<?>> leaves(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses()).flatMap(ProtocolPage::leaves)
                : Stream.of(type);
    }

    /**
     * Asserts that the page has a state diagram of these arrows, and that they reach all phases.
     *
     * @param labels the names of the events of each {@link #arrow}
     * @param phases the names of all phases in the order of their arrows, from the initial to the final one
     */
    public void assertShows(Map<String, ? extends Collection<String>> labels, List<String> phases) {
        assertThat(labels.keySet().stream().flatMap(arrow -> Stream.of(arrow.split(ARROW))))
                .as("phases that are reached")
                .hasSameElementsAs(phases);
        String expected = diagram(labels, phases);
        assertThat(shownDiagram(expected))
                .as("the diagram; -Dupdate.docs writes it again")
                .isEqualTo(expected);
    }

    private static String diagram(Map<String, ? extends Collection<String>> labels, List<String> phases) {
        Map<String, Collection<String>> sorted =
                new TreeMap<>(Comparator.comparing((String arrow) -> position(arrow, phases)));
        sorted.putAll(labels);
        StringBuilder text = new StringBuilder("stateDiagram-v2\n  [*] --> " + phases.get(0) + "\n");
        sorted.forEach((arrow, events) -> text.append("  " + arrow + ": " + String.join(", ", events) + "\n"));
        return text.append("  " + phases.get(phases.size() - 1) + " --> [*]\n").toString();
    }

    /** Returns a text that sorts arrows by their first, then by their second phase. */
    private static String position(String arrow, List<String> phases) {
        return Arrays.stream(arrow.split(ARROW))
                .map(phase -> String.format("%02d", phases.indexOf(phase)))
                .collect(Collectors.joining(" "));
    }

    /** Returns the diagram of the same initial phase that the page shows; empty if it has none. */
    private String shownDiagram(String expected) {
        String start = expected.lines().limit(2).collect(Collectors.joining("\n", "", "\n"));
        Pattern diagram = Pattern.compile("(?s)(?<=```mermaid\n)" + Pattern.quote(start) + ".*?(?=```)");
        Matcher shown = diagram.matcher(updated(diagram, expected));
        return shown.find() ? shown.group() : "";
    }

    /**
     * Asserts that a table of the page has a row with the numbers of states and transitions of an exploration.
     *
     * @param start the cells before them, such as {@code | two wait |}
     */
    public void assertShows(String start, Exploration<?> explored) {
        String row = String.format(Locale.ROOT, "%s %,d | %,d |", start, explored.states(), explored.transitions());
        assertThat(updated(Pattern.compile(Pattern.quote(start) + ".*"), row).lines())
                .as("the rows; -Dupdate.docs writes their numbers again")
                .contains(row);
    }

    /** Returns the names of options or faults in a cell. */
    public static <T extends Enum<T>> String names(Set<T> values) {
        return values.isEmpty()
                ? "none"
                : values.stream().sorted().map(Enum::name).collect(Collectors.joining(", "));
    }

    /** Returns the number and the kinds of faults in a cell. */
    public static <T extends Enum<T>> String faults(int most, Set<T> possible, Class<T> kinds) {
        if (most == 0) {
            return "none";
        }
        return most + " of " + (possible.equals(EnumSet.allOf(kinds)) ? "all" : names(possible));
    }

    private String updated(Pattern old, String replacement) {
        try {
            String page = Files.readString(file);
            if (System.getProperty("update.docs") != null) {
                page = old.matcher(page).replaceAll(Matcher.quoteReplacement(replacement));
                Files.writeString(file, page);
            }
            return page;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
