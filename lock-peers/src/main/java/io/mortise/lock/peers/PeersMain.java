// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.jr.ob.JSON;

/**
 * Implements {@code ./peers}, which runs the conformance kit against each other lock library and writes the page that
 * compares them.
 *
 * <p>The results of each peer are kept in a file, so that a single peer can be run again.
 */
final class PeersMain {
    private static final String USAGE = """
            usage: peers [--results DIR] [--page FILE] [--tests REGEX] [--no-run] [PEER...]
            Runs the conformance kit against the named peers (default: all), and writes a page that compares all peers.
              --results DIR   where the results of each peer are kept
              --page FILE     the page to write
              --tests REGEX   runs only the tests whose name matches, and keeps the results of the others
              --no-run        writes the page from the results of earlier runs
              --list          prints the names of the peers
            """;

    private Path results = Path.of("target", "peers");
    private Optional<Path> page = Optional.empty();
    private Pattern tests = Pattern.compile("");
    private boolean run = true;
    private final List<Peer> peers = new ArrayList<>();
    private final PrintStream out;

    private PeersMain(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        PeersMain main = new PeersMain(System.out);
        try {
            if (main.parse(Arrays.asList(arguments))) {
                main.execute();
            }
        } catch (IllegalArgumentException e) {
            System.err.println("peers: " + e.getMessage());
            System.err.print(USAGE);
            System.exit(64);
        }
        System.exit(0); // threads that a peer has not ended
    }

    private boolean parse(List<String> arguments) {
        var rest = arguments.iterator();
        while (rest.hasNext()) {
            String argument = rest.next();
            switch (argument) {
                case "--results" -> results = Path.of(value(argument, rest));
                case "--page" -> page = Optional.of(Path.of(value(argument, rest)));
                case "--tests" -> tests = Pattern.compile(value(argument, rest));
                case "--no-run" -> run = false;
                case "--list" -> {
                    Peers.all().forEach(peer -> out.println(peer.id() + "\t" + peer.title()));
                    return false;
                }
                case "--help", "-h" -> {
                    out.print(USAGE);
                    return false;
                }
                default -> peers.add(peer(argument));
            }
        }
        return true;
    }

    private static String value(String option, java.util.Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return rest.next();
    }

    private static Peer peer(String id) {
        return Peers.all().stream()
                .filter(peer -> peer.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no peer is called \"" + id + "\", but "
                        + Peers.all().stream().map(Peer::id).collect(Collectors.joining(", "))));
    }

    private void execute() throws IOException {
        if (run) {
            for (Peer peer : peers.isEmpty() ? Peers.all() : peers) {
                out.println("== " + peer.id() + ": " + peer.title() + ", " + peer.version());
                PeerRun.run(peer, tests, records -> write(peer, records));
            }
        }
        if (page.isPresent()) {
            Map<Peer, List<TestRecord>> all = new LinkedHashMap<>();
            Map<Peer, String> dates = new LinkedHashMap<>();
            for (Peer peer : Peers.all()) {
                all.put(peer, read(peer));
                dates.put(peer, date(peer));
            }
            Files.writeString(page.get(), new PeersPage(all, dates).markdown());
            out.println("wrote " + page.get());
        }
    }

    /** Replaces the results of these tests in the peer's file. */
    private void write(Peer peer, List<TestRecord> records) {
        Map<String, TestRecord> all = new TreeMap<>();
        try {
            read(peer).forEach(record -> all.put(record.name(), record));
            records.forEach(record -> all.put(record.name(), record));
            Files.createDirectories(results);
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("peer", peer.id());
            json.put("version", peer.version());
            // A run of some tests leaves the others as old as they were.
            json.put(
                    "date",
                    tests.pattern().isEmpty() ? LocalDate.now(ZoneOffset.UTC).toString() : date(peer));
            json.put("tests", all.values().stream().map(TestRecord::toJson).toList());
            Files.writeString(
                    file(peer), JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(json) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the results of the peer's current version; none if it has not been run. */
    @SuppressWarnings("unchecked")
    private List<TestRecord> read(Peer peer) throws IOException {
        if (!Files.exists(file(peer))) {
            return List.of();
        }
        Map<String, Object> json = JSON.std.mapFrom(Files.readString(file(peer)));
        if (!peer.version().equals(json.get("version"))) {
            return List.of();
        }
        return ((List<Map<String, Object>>) Objects.requireNonNull(json.get("tests")))
                .stream().map(TestRecord::fromJson).toList();
    }

    /** Returns the date of the last run of all tests; empty if there was none. */
    private String date(Peer peer) throws IOException {
        return Files.exists(file(peer))
                ? Objects.toString(
                        JSON.std.mapFrom(Files.readString(file(peer))).get("date"), "")
                : "";
    }

    private Path file(Peer peer) {
        return results.resolve(peer.id() + ".json");
    }
}
