// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One queued child of a lock node. Its name ends in {@code lock-} and the sequence number that the server assigned, as those of
 * Curator's mutex do.
 *
 * @param name the child's name
 * @param sequence signed and 32 bits wide: it wraps
 */
public record ContenderNode(String name, int sequence) {
    private static final String MARK = "lock-";

    /** Parses a name without a pattern, which would take seven times as long: each waiter reads the whole queue. */
    static Optional<ContenderNode> parse(String name) {
        int mark = name.lastIndexOf(MARK);
        int begin = mark + MARK.length();
        int width = name.length() - begin;
        boolean negative = mark >= 0 && width > 0 && name.charAt(begin) == '-';
        if (mark < 0 || width < 10 || width > (negative ? 11 : 10)) { // %010d: the sign counts
            return Optional.empty();
        }
        long number = 0;
        for (int i = negative ? begin + 1 : begin; i < name.length(); i++) {
            int digit = name.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return Optional.empty();
            }
            number = number * 10 + digit;
        }
        number = negative ? -number : number;
        return number == (int) number ? Optional.of(new ContenderNode(name, (int) number)) : Optional.empty();
    }

    /**
     * Returns the queue, the holder first, without children of other kinds. Sequence numbers wrap, so they are compared by their
     * distance from one of them, which is right as long as no two are 2³¹ apart.
     *
     * @param reference the child to measure from, usually the own one; empty for any
     */
    public static List<ContenderNode> queue(Collection<String> children, Optional<String> reference) {
        List<ContenderNode> found = children.stream()
                .map(ContenderNode::parse)
                .flatMap(Optional::stream)
                .toList();
        int pivot = reference
                .flatMap(ContenderNode::parse)
                .or(() -> found.stream().findFirst())
                .map(ContenderNode::sequence)
                .orElse(0);
        return found.stream()
                .sorted(Comparator.comparingInt(contender -> contender.sequence - pivot))
                .toList();
    }

    /** Returns the prefix of an attempt's node. Its letter is the mode: {@code x} for exclusive, others are reserved. */
    static String prefix(String attemptId) {
        return attemptId + "-x-lock-";
    }
}
