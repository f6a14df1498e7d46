// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

/**
 * Mode of a lock: exclusive. Only {@link #EXCLUSIVE} is used today; the others keep a place in the SPI and in what is stored.
 *
 * @param permits how many of {@code limit} this grant takes, for COUNTED
 * @param limit how many permits there are, for COUNTED
 */
public record LockMode(Kind kind, int permits, int limit) {
    /** One owner at a time. */
    public static final LockMode EXCLUSIVE = new LockMode(Kind.EXCLUSIVE, 1, 1);

    /** The kinds of grant. */
    public enum Kind {
        /** Excludes every other grant. */
        EXCLUSIVE,
        /** Excludes exclusive grants only. */
        SHARED,
        /** Takes some of a limited number of permits. */
        COUNTED
    }
}
