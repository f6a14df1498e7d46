// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.Arrays;

/**
 * Makes keys of worlds independent of the absolute time, so that there are finitely many. Two worlds with one key behave alike
 * only if their time advances by steps that are either tiny, so that all together are shorter than {@link #LONG_GAP_MICROS}, or
 * multiples of it, and if no sum of long steps equals a time that the protocol compares with, or nothing.
 */
public final class Ranks {
    /** From half of this gap on, in µs, a gap between two times counts by its length, since deadlines are that long. */
    public static final long LONG_GAP_MICROS = 100_000;

    private static final int DIGITS = 16;

    private Ranks() {}

    /**
     * Returns the text with each number of 16 digits, a time in µs or a token made from one, replaced by its rank. Long gaps
     * between consecutive times are kept, rounded.
     */
    public static String replaceTimes(CharSequence text) {
        int[] places = new int[16];
        int found = 0;
        for (int at = next(text, 0); at >= 0; at = next(text, at + DIGITS)) {
            if (found == places.length) {
                places = Arrays.copyOf(places, found * 2);
            }
            places[found++] = at;
        }
        long[] times = new long[found];
        for (int i = 0; i < found; i++) {
            times[i] = Long.parseLong(text, places[i], places[i] + DIGITS, 10);
        }
        long[] sorted = times.clone();
        int distinct = sortDistinct(sorted, found);
        long[] ranks = ranks(sorted, distinct);
        StringBuilder ranked = new StringBuilder(text.length());
        int from = 0;
        for (int i = 0; i < found; i++) {
            ranked.append(text, from, places[i])
                    .append('t')
                    .append(ranks[Arrays.binarySearch(sorted, 0, distinct, times[i])]);
            from = places[i] + DIGITS;
        }
        return ranked.append(text, from, text.length()).toString();
    }

    /** Sorts the first numbers, of which many are equal, and returns how many differ. */
    private static int sortDistinct(long[] times, int count) {
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            long time = times[i];
            int at = distinct;
            while (at > 0 && times[at - 1] > time) {
                at--;
            }
            if (at == 0 || times[at - 1] != time) {
                System.arraycopy(times, at, times, at + 1, distinct - at);
                times[at] = time;
                distinct++;
            }
        }
        return distinct;
    }

    private static long[] ranks(long[] sorted, int count) {
        long[] ranks = new long[count];
        for (int i = 1; i < count; i++) {
            long gap = sorted[i] - sorted[i - 1];
            ranks[i] = ranks[i - 1]
                    + (gap < LONG_GAP_MICROS / 2 ? 1 : 1_000 * ((gap + LONG_GAP_MICROS / 2) / LONG_GAP_MICROS));
        }
        return ranks;
    }

    /** Returns where the next number of exactly 16 digits begins; -1 if there is none. */
    private static int next(CharSequence text, int from) {
        int digits = 0;
        for (int i = from; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : ' ';
            if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
                digits++;
            } else {
                if (digits == DIGITS) {
                    return i - DIGITS;
                }
                digits = 0;
            }
        }
        return -1;
    }
}
