// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The page in {@code docs/protocols} that describes one protocol. It holds a diagram and rows that tests compare with the code; with
 * {@code -Dupdate.docs} they are written to it first. Not thread-safe.
 */
public final class ProtocolPage {
    private final Path file;

    /** @param name the name of the file without {@code .md} */
    public ProtocolPage(String name) {
        this.file = Path.of("..", "docs", "protocols", name + ".md");
    }

    /**
     * Returns the text of a state diagram.
     *
     * @param labels the names of the events of each arrow, such as {@code Idle --> Queued}
     * @param phases the names of all phases in the order of their arrows, from the initial to the final one
     */
    public static String diagram(Map<String, ? extends Collection<String>> labels, List<String> phases) {
        Map<String, Collection<String>> sorted =
                new TreeMap<>(Comparator.comparing((String arrow) -> position(arrow, phases)));
        sorted.putAll(labels);
        StringBuilder text = new StringBuilder("stateDiagram-v2\n  [*] --> " + phases.get(0) + "\n");
        sorted.forEach((arrow, events) -> text.append("  " + arrow + ": " + String.join(", ", events) + "\n"));
        return text.append("  " + phases.get(phases.size() - 1) + " --> [*]\n").toString();
    }

    /** Returns a text that sorts arrows by their first, then by their second phase. */
    private static String position(String arrow, List<String> phases) {
        return Arrays.stream(arrow.split(" --> "))
                .map(phase -> String.format("%02d", phases.indexOf(phase)))
                .collect(Collectors.joining(" "));
    }

    /**
     * Returns the diagram of the same initial phase that the page shows; empty if it has none.
     *
     * @param expected the diagram to write first, with {@code -Dupdate.docs}
     */
    public String shownDiagram(String expected) {
        String start = expected.lines().limit(2).collect(Collectors.joining("\n", "", "\n"));
        Pattern diagram = Pattern.compile("(?s)(?<=```mermaid\n)" + Pattern.quote(start) + ".*?(?=```)");
        Matcher shown = diagram.matcher(updated(diagram, expected));
        return shown.find() ? shown.group() : "";
    }

    /**
     * Returns the row of a table for an exploration, with its numbers of states and transitions.
     *
     * @param start the cells before them, such as {@code | two wait |}
     */
    public static String row(String start, Exploration<?> explored) {
        return String.format(Locale.ROOT, "%s %,d | %,d |", start, explored.states(), explored.transitions());
    }

    /**
     * Returns the lines of the page.
     *
     * @param start the beginning of a row
     * @param row the whole row, to write first, with {@code -Dupdate.docs}
     */
    public List<String> lines(String start, String row) {
        return updated(Pattern.compile(Pattern.quote(start) + ".*"), row)
                .lines()
                .toList();
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
