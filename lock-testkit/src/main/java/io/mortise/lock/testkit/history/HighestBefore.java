// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Finds the highest value among the entries before an instant. */
final class HighestBefore<T> {
    private final TreeMap<Long, T> highestFrom = new TreeMap<>();

    HighestBefore(List<T> things, ToLongFunction<T> instant, ToLongFunction<T> value) {
        things.stream().sorted(Comparator.comparingLong(instant)).forEach(thing -> {
            Map.Entry<Long, T> last = highestFrom.lastEntry();
            if (last == null || value.applyAsLong(last.getValue()) < value.applyAsLong(thing)) {
                highestFrom.put(instant.applyAsLong(thing), thing);
            }
        });
    }

    Optional<T> before(long instant) {
        return Optional.ofNullable(highestFrom.lowerEntry(instant)).map(Map.Entry::getValue);
    }
}
