// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A contender's node in a lock's queue, with the sequence number parsed from the node's name.
 *
 * <p>The name ends in {@code lock-} and the sequence number that the server assigned, like the node names of Curator's mutex.
 *
 * @param name the child's name, without the path of the lock node
 * @param sequence the sequence number
 */
public record ContenderNode(String name, int sequence) {
    private static final String MARK = "lock-";

    /**
     * The first sequence number that grants nothing. The counter of a lock node stops at 2³¹ - 1: the server assigns that number
     * again and again, and negative ones to creates that overlap.
     */
    private static final int SEQUENCE_LIMIT = Integer.MAX_VALUE - (1 << 20);

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
     * Returns the queue in order, the holder first, without children of other kinds.
     *
     * @param children the names of the lock node's children
     */
    public static List<ContenderNode> queue(Collection<String> children) {
        return children.stream()
                .map(ContenderNode::parse)
                .flatMap(Optional::stream)
                .sorted((one, other) -> Integer.compareUnsigned(one.sequence, other.sequence))
                .toList();
    }

    /** Returns whether another node may get the same sequence number, or soon may. */
    boolean hasUncertainOrder() {
        return Integer.compareUnsigned(sequence, SEQUENCE_LIMIT) >= 0;
    }

    /**
     * Returns the prefix of the node name of an attempt. The letter {@code x} means exclusive mode; other letters are reserved.
     */
    static String prefix(String attemptId) {
        return attemptId + "-x-lock-";
    }
}
