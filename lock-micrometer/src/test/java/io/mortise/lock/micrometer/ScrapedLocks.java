// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.spi.testing.ManualClock;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The output of Prometheus's registry for locks in memory, scraped once per minute of a manual clock: ten healthy minutes, and
 * then ten minutes with a loss, a late renewal, long waits, and an election that nobody leads. At last its candidate closes.
 */
final class ScrapedLocks {
    static final int HEALTHY = 10;
    static final int FAULTY = 10;

    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Pattern SAMPLE = Pattern.compile("(?m)^(mortise_\\w+)(?:\\{(.*)})? (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    private final ManualClock clock = new ManualClock();
    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), RegistryClock.of(clock));
    private final MemoryStore store = MemoryStore.create(clock);
    private final List<List<Sample>> scrapes = new ArrayList<>();

    /** One sample of one time series. */
    record Sample(String metric, Map<String, String> labels, String value) {
        String series() {
            return metric
                    + labels.entrySet().stream()
                            .map(label -> label.getKey() + "=\"" + label.getValue() + "\"")
                            .collect(Collectors.joining(",", "{", "}"));
        }
    }

    private ScrapedLocks() {}

    static List<List<Sample>> scrapes() throws Exception {
        ScrapedLocks scraped = new ScrapedLocks();
        scraped.run();
        return List.copyOf(scraped.scrapes);
    }

    private void run() throws Exception {
        try (LockClient client = MemoryLocks.connect(store, DIRECT.listener(LockMetrics.of(registry)));
                LockClient other = MemoryLocks.connect(store, DIRECT)) {
            client.named("first").acquire().release();
            CountDownLatch elected = new CountDownLatch(1);
            Election election = Election.on(client.named("election")).run(term -> {
                elected.countDown();
                new CountDownLatch(1).await();
            });
            elected.await();
            scrape();
            for (int minute = 0; minute < HEALTHY; minute++) {
                Lease lease = client.named("x").acquire();
                clock.advance(MINUTE);
                lease.release();
                scrape();
            }
            CompletableFuture<Lease> outsider = other.named("election").acquireAsync(); // no candidate, so nobody leads
            election.resign();
            outsider.join();
            for (int minute = 0; minute < FAULTY; minute++) {
                Lease blocker = other.named("x").acquire();
                CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
                clock.advance(Duration.ofSeconds(20));
                blocker.release();
                Lease lease = waiting.join();
                if (minute == 0) {
                    client.named("y").acquire();
                    store.faults().remove("y");
                    store.faults().refuse(Duration.ofSeconds(20)); // so a renewal succeeds after 22.75 s
                }
                clock.advance(Duration.ofSeconds(40));
                lease.release();
                scrape();
            }
            election.close();
            scrape();
        }
    }

    private void scrape() {
        scrapes.add(SAMPLE.matcher(registry.scrape())
                .results()
                .map(ScrapedLocks::sample)
                .toList());
    }

    private static Sample sample(MatchResult found) {
        Map<String, String> labels = new LinkedHashMap<>();
        if (found.group(2) != null) {
            LABEL.matcher(found.group(2)).results().forEach(label -> labels.put(label.group(1), label.group(2)));
        }
        return new Sample(found.group(1), labels, found.group(3));
    }
}
