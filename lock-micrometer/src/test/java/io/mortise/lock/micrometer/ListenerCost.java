// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import com.sun.management.ThreadMXBean;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.lang.management.ManagementFactory;
import jdk.jfr.Recording;

/**
 * Program that measures one uncontended cycle of acquire and release in memory, with one kind of listener: the processor time of
 * the best round in nanoseconds, and the bytes that it allocates.
 */
final class ListenerCost {
    /** The kinds of observers whose cost is measured. */
    enum Observed {
        BY_NOBODY,
        BY_METRICS,
        BY_TRACING,
        BY_FLIGHT_RECORDER
    }

    private ListenerCost() {}

    /**
     * Measures, and prints the figures.
     *
     * @param arguments the name of an {@link Observed}, the number of rounds, and the number of cycles in a round
     */
    public static void main(String[] arguments) throws Exception {
        Observed observed = Observed.valueOf(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        int cycles = Integer.parseInt(arguments[2]);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long bestTime = Long.MAX_VALUE;
        long leastBytes = Long.MAX_VALUE;
        try (Recording recording = new Recording();
                LockClient client = Locks.connect("memory:cost", options(observed))) {
            if (observed == Observed.BY_FLIGHT_RECORDER) {
                recording.start();
            }
            DistributedLock lock = client.named("x");
            for (int round = 0; round < rounds; round++) {
                long time = threads.getCurrentThreadCpuTime();
                long bytes = threads.getThreadAllocatedBytes(thread);
                for (int i = 0; i < cycles; i++) {
                    lock.acquire().release();
                }
                bestTime = Math.min(bestTime, threads.getCurrentThreadCpuTime() - time);
                leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(thread) - bytes);
            }
        }
        System.out.println(observed + " " + bestTime / cycles + " ns " + leastBytes / cycles + " bytes");
    }

    private static ClientOptions options(Observed observed) {
        ClientOptions options = ClientOptions.defaults();
        return switch (observed) {
            case BY_METRICS -> options.listener(LockMetrics.of(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
            case BY_TRACING -> {
                ObservationRegistry registry = ObservationRegistry.create();
                registry.observationConfig().observationHandler(context -> true);
                yield options.listener(LockWaitTracing.of(registry));
            }
            case BY_NOBODY, BY_FLIGHT_RECORDER -> options;
        };
    }
}
