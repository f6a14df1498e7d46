// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A Redis cluster as one of its nodes sees it, parsed from the reply to {@code CLUSTER NODES}. */
record RedisClusterView(List<Node> nodes) {
    private static final Pattern PORT = Pattern.compile(":(\\d+)@");
    private static final Pattern SLOTS = Pattern.compile("(\\d+)(?:-(\\d+))?");

    /**
     * One node in that view.
     *
     * @param flags flags such as {@code myself}, {@code master}, {@code slave}, {@code fail}, {@code handshake}
     * @param master id of the node's master; a hyphen if the node is a master itself
     * @param slots single slots, ranges of slots, and slots under migration, which are in brackets
     */
    record Node(String id, int port, List<String> flags, String master, List<String> slots) {
        boolean isMaster() {
            return flags.contains("master");
        }

        boolean isHealthy() {
            return flags.stream().noneMatch(flag -> flag.contains("fail") || flag.equals("handshake"));
        }

        boolean serves(int slot) {
            return slots.stream()
                    .map(SLOTS::matcher)
                    .filter(Matcher::matches)
                    .anyMatch(range -> Integer.parseInt(range.group(1)) <= slot
                            && slot <= Integer.parseInt(range.group(2) == null ? range.group(1) : range.group(2)));
        }
    }

    static RedisClusterView parse(String text) {
        return new RedisClusterView(text.lines().map(RedisClusterView::node).toList());
    }

    private static Node node(String line) {
        List<String> words = Arrays.asList(line.split(" ", -1));
        Matcher port = PORT.matcher(words.get(1));
        if (!port.find()) {
            throw new IllegalArgumentException("Not a line of CLUSTER NODES: " + line);
        }
        return new Node(
                words.get(0),
                Integer.parseInt(port.group(1)),
                Arrays.asList(words.get(2).split(",", -1)),
                words.get(3),
                words.subList(Math.min(8, words.size()), words.size()));
    }

    Stream<Node> masters() {
        return nodes.stream().filter(Node::isMaster);
    }

    /** Returns the port of the master that serves the slot. */
    Optional<Integer> masterOf(int slot) {
        return masters().filter(node -> node.serves(slot)).map(Node::port).findFirst();
    }
}
