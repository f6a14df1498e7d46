// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.util.List;
import java.util.stream.IntStream;

/**
 * One competitor's figure divided by another's.
 *
 * @param ofMedians the median over all rounds by the other's
 * @param least the least ratio of one round
 * @param most the greatest ratio of one round
 */
public record MeasurementRatio(double ofMedians, double least, double most) {
    /**
     * The n-th values belong to the same round.
     *
     * @throws IllegalArgumentException if there are not as many of one as of the other
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
        return new MeasurementRatio(ofMedians, rounds.least(), rounds.most());
    }
}
