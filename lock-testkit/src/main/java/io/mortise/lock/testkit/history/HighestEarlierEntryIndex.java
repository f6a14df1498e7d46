// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** An index of entries by time, which finds the entry with the highest value before a given instant. */
final class HighestEarlierEntryIndex<T> {
    private final TreeMap<Long, T> highestFrom = new TreeMap<>();

    HighestEarlierEntryIndex(List<T> entries, ToLongFunction<T> instant, ToLongFunction<T> value) {
        entries.stream().sorted(Comparator.comparingLong(instant)).forEach(entry -> {
            Map.Entry<Long, T> last = highestFrom.lastEntry();
            if (last == null || value.applyAsLong(last.getValue()) < value.applyAsLong(entry)) {
                highestFrom.put(instant.applyAsLong(entry), entry);
            }
        });
    }

    Optional<T> before(long instant) {
        return Optional.ofNullable(highestFrom.lowerEntry(instant)).map(Map.Entry::getValue);
    }
}
