// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The acquire and release latencies that one benchmark run has measured, in nanoseconds. */
record LatencyResult(String run, double seconds, Histogram acquire, Histogram release) {
    static final String HEADER = String.format(
            "%-10s %12s %14s %14s %14s %14s",
            "", "cycles/s", "acquire p50", "acquire p99", "release p50", "release p99");

    double perSecond() {
        return acquire.getTotalCount() / seconds;
    }

    String line() {
        return String.format(
                Locale.ROOT,
                "%-10s %12.0f %14.3f %14.3f %14.3f %14.3f",
                run,
                perSecond(),
                millis(acquire.getValueAtPercentile(50)),
                millis(acquire.getValueAtPercentile(99)),
                millis(release.getValueAtPercentile(50)),
                millis(release.getValueAtPercentile(99)));
    }

    Map<String, Object> json() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("cycles", acquire.getTotalCount());
        object.put("cyclesPerSecond", Math.round(perSecond()));
        object.put("acquireMillis", json(acquire));
        object.put("releaseMillis", json(release));
        return object;
    }

    private static Map<String, Object> json(Histogram times) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("p50", millis(times.getValueAtPercentile(50)));
        object.put("p99", millis(times.getValueAtPercentile(99)));
        return object;
    }

    private static double millis(long nanos) {
        return Math.round(nanos / 1e3) / 1e3;
    }
}
