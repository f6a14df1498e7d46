// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import java.time.Duration;
import java.util.Objects;

/** Checks that the key prefix and the lease duration in a client's options are within their limits. See rule S14. */
public final class OptionLimits {
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    private static final Duration LONGEST_LEASE = Duration.ofHours(1);
    private static final int LONGEST_PREFIX = 256;

    private OptionLimits() {}

    /** Checks the prefix of all keys: printable ASCII characters without a meaning for clusters or for escaped names. */
    public static void checkPrefix(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        boolean plain = prefix.chars().allMatch(c -> c > ' ' && c < 127 && "{}%".indexOf(c) < 0);
        if (prefix.isEmpty() || prefix.length() > LONGEST_PREFIX || !plain) {
            throw new IllegalArgumentException("prefix is \"" + prefix + "\", must be 1 to " + LONGEST_PREFIX
                    + " printable ASCII characters without spaces, braces and percent signs");
        }
    }

    /**
     * Checks a lease duration, which may be from 1 s to 1 h.
     *
     * @param option the name of the option for messages
     */
    public static void checkLease(String option, Duration lease) {
        Objects.requireNonNull(lease, option);
        if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    option + " is " + lease + ", must be from " + SHORTEST_LEASE + " to " + LONGEST_LEASE);
        }
    }
}
