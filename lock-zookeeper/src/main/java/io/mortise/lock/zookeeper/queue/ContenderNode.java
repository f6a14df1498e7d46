// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A contender's node in a lock's queue, with the sequence number parsed from the node's name.
 *
 * <p>The name ends in {@code lock-} and the sequence number that the server assigned, like the node names of Curator's mutex.
 *
 * @param name the child's name, without the path of the lock node
 * @param sequence the sequence number, which is signed, 32 bits wide, and wraps
 */
public record ContenderNode(String name, int sequence) {
    private static final String MARK = "lock-";

    /**
     * Parses a child's name; empty if the child is not a contender. Uses no regular expression, which would take seven times as
     * long: each waiter reads the whole queue.
     */
    static Optional<ContenderNode> parse(String name) {
        int mark = name.lastIndexOf(MARK);
        int begin = mark + MARK.length();
        int width = name.length() - begin;
        boolean negative = mark >= 0 && width > 0 && name.charAt(begin) == '-';
        if (mark < 0
                || width < 10
                || width > (negative ? 11 : 10)) { // the server writes %010d, whose width includes the sign
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
     * Returns the queue in order, the holder first, without children of other kinds. Sequence numbers wrap, so they are
     * compared by their distance from a reference, which is correct as long as no two of them are 2³¹ apart.
     *
     * @param children the names of the lock node's children
     * @param reference the name of the child to measure from, usually the caller's own; empty for any child
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

    /**
     * Returns the prefix of the node name of an attempt. The letter {@code x} means exclusive mode; other letters are reserved.
     */
    static String prefix(String attemptId) {
        return attemptId + "-x-lock-";
    }
}
