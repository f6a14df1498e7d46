// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Ratio of one competitor's measurement to another's.
 *
 * @param ofMedians ratio of the medians over all rounds
 * @param min minimum of the single rounds' ratios
 * @param max maximum of the single rounds' ratios
 */
public record MeasurementRatio(double ofMedians, double min, double max) {
    /**
     * Returns the ratio of two measurements.
     *
     * @param values values by round
     * @param others values of the other competitor, in the same order of rounds
     * @throws IllegalArgumentException if the numbers of rounds differ
     */
    public static MeasurementRatio of(List<Double> values, List<Double> others) {
        if (values.size() != others.size()) {
            throw new IllegalArgumentException(values.size() + " rounds against " + others.size());
        }
        MedianAndRange rounds = MedianAndRange.of(IntStream.range(0, values.size())
                .mapToObj(round -> values.get(round) / others.get(round))
                .toList());
        double ofMedians =
                MedianAndRange.of(values).median() / MedianAndRange.of(others).median();
        return new MeasurementRatio(ofMedians, rounds.min(), rounds.max());
    }
}
