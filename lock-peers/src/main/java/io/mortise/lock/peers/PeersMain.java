// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.jr.ob.JSON;

/**
 * Implements {@code ./peers}, which runs the kit against each peer and writes the page that compares them.
 *
 * <p>The results of each peer are kept in a file, so that a single peer can be run again.
 */
final class PeersMain {
    private static final String USAGE = """
            usage: peers [--results DIR] [--page FILE] [--tests REGEX] [--no-run] [PEER...]
            Runs the conformance kit against the named peers (default: all), and writes a page that compares all peers.
              --results DIR   where the results of each peer are kept
              --page FILE     the page to write
              --tests REGEX   runs only the tests whose name matches, prints their results, and writes nothing
              --no-run        writes the page from the results of earlier runs
              --list          prints the names of the peers
            """;

    private Path results = Path.of("target", "peers");
    private Optional<Path> page = Optional.empty();
    private Optional<Pattern> tests = Optional.empty();
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
                case "--tests" -> tests = Optional.of(Pattern.compile(value(argument, rest)));
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
                List<TestRecord> records = PeerRun.run(peer, tests.orElse(Pattern.compile("")));
                if (tests.isEmpty()) {
                    write(peer, records);
                }
            }
        }
    }

    private void write(Peer peer, List<TestRecord> records) throws IOException {
        Files.createDirectories(results);
        Path file = results.resolve(peer.id() + ".json");
        Files.writeString(
                file,
                JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT)
                                .asString(Map.of(
                                        "peer", peer.id(),
                                        "version", peer.version(),
                                        "tests", records.stream().map(TestRecord::toJson).toList()))
                        + "\n");
        out.println("wrote " + file);
    }
}
