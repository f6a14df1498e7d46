// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One child of a lock node that stands in line: its name ends in {@code lock-} and the sequence number that the server gave.
 * Curator's mutex names its nodes so, too.
 *
 * @param node the child's name
 * @param sequence signed and 32 bits wide: it wraps
 */
record Contender(String node, int sequence) {
    private static final String MARK = "lock-";

    /** By hand: each waiter reads the whole queue, and a pattern takes seven times as long. */
    static Optional<Contender> of(String node) {
        int mark = node.lastIndexOf(MARK);
        int begin = mark + MARK.length();
        int width = node.length() - begin;
        boolean negative = mark >= 0 && width > 0 && node.charAt(begin) == '-';
        if (mark < 0 || width < 10 || width > (negative ? 11 : 10)) { // %010d: the sign counts
            return Optional.empty();
        }
        long number = 0;
        for (int i = negative ? begin + 1 : begin; i < node.length(); i++) {
            int digit = node.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return Optional.empty();
            }
            number = number * 10 + digit;
        }
        number = negative ? -number : number;
        return number == (int) number ? Optional.of(new Contender(node, (int) number)) : Optional.empty();
    }

    /**
     * Who stands in line, the holder first; children of other kinds are left out. Numbers wrap, so they are compared by their
     * distance from one that stands in line too: right as long as no two are 2³¹ apart.
     *
     * @param from the child to measure from, one's own; absent: any
     */
    static List<Contender> inLine(Collection<String> children, Optional<String> from) {
        List<Contender> found =
                children.stream().map(Contender::of).flatMap(Optional::stream).toList();
        int pivot = from.flatMap(Contender::of)
                .or(() -> found.stream().findFirst())
                .map(Contender::sequence)
                .orElse(0);
        return found.stream()
                .sorted(Comparator.comparingInt(contender -> contender.sequence - pivot))
                .toList();
    }

    /** The prefix of an attempt's node. The letter is the mode: room for shared and counted ones beside {@code x}. */
    static String prefix(String attemptId) {
        return attemptId + "-x-lock-";
    }
}
