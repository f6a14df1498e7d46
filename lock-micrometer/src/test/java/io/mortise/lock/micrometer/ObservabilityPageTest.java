// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.recipe.Election;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests {@code docs/observability.md}: that its code is the code of this class, and that its table names each meter and tag. */
class ObservabilityPageTest {
    private static final Path PAGE = Path.of("..", "docs", "observability.md");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\\n(.*?)^```$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(mortise\\.\\S+)` \\| [a-z].*$");

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final List<String> audit = new ArrayList<>();
    private final String url = "memory:observability-page";

    private static String withoutIndentation(String code) {
        return code.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n"));
    }

    @Test
    void thePageShowsCodeThatThisClassRuns() throws IOException {
        String source = withoutIndentation(
                Files.readString(Path.of("src/test/java/io/mortise/lock/micrometer/ObservabilityPageTest.java")));
        List<MatchResult> blocks =
                BLOCK.matcher(Files.readString(PAGE)).results().toList();
        assertThat(blocks).hasSize(4);
        assertThat(blocks).allSatisfy(block -> assertThat(source).contains(withoutIndentation(block.group(1))));
    }

    @Test
    void metricsOfAllClients() throws Exception {
        LockMetrics metrics = LockMetrics.of(registry); // one for a registry, for all clients
        LockClient locks = Locks.connect(url, ClientOptions.defaults().listener(metrics));
        locks.named("x").acquire().release();
        locks.close();
        assertThat(registry.get("mortise.lock.acquire")
                        .tag("outcome", "granted")
                        .timer()
                        .count())
                .isOne();
    }

    private void aTermOfAnElection() throws InterruptedException {
        CountDownLatch led = new CountDownLatch(1);
        ClientOptions measured = ClientOptions.defaults().listener(LockMetrics.of(registry));
        try (LockClient locks = Locks.connect(url, measured);
                Election election = Election.on(locks.named("x")).run(term -> led.countDown())) {
            led.await();
            assertThat(election.isRunning()).isTrue();
        }
    }

    @Test
    void aTagForTheNameOfTheLock() throws Exception {
        LockMetrics metrics = LockMetrics.of(registry, name -> name.replaceFirst("/.*", "")); // order/42 becomes order
        try (LockClient locks = Locks.connect(url, ClientOptions.defaults().listener(metrics))) {
            locks.named("order/42").acquire().release();
        }
        assertThat(registry.get("mortise.lock.held")
                        .tag("lock", "order")
                        .gauge()
                        .value())
                .isZero();
    }

    @Test
    void tracing() throws Exception {
        ObservationRegistry observations = ObservationRegistry.create();
        ClientOptions traced = ClientOptions.defaults().listener(LockWaitTracing.of(observations));
        assertThat(traced.listeners()).hasSize(1);
    }

    @Test
    void aListenerOfTheApplication() throws Exception {
        LockListener listener = (backend, lockName) -> new LockListener.AcquireObserver() {
            @Override
            public LockListener.LeaseObserver granted(Lease lease) {
                return new LockListener.LeaseObserver() {
                    @Override
                    public void lost(LossReason reason, Duration held) {
                        audit.add(lockName + " on " + backend + " was lost after " + held + ": " + reason);
                    }
                };
            }
        };
        LockClient locks = Locks.connect(url, ClientOptions.defaults().listener(listener));
        locks.named("x").acquire();
        locks.close();
        assertThat(audit)
                .singleElement()
                .asString()
                .startsWith("x on memory was lost after PT")
                .contains("CLIENT_CLOSED");
    }

    @Test
    void theTableNamesEachMeterWithItsTags() throws Exception {
        metricsOfAllClients();
        aTermOfAnElection();
        String page = Files.readString(PAGE);
        Set<String> documented =
                ROW.matcher(page).results().map(row -> row.group(1)).collect(Collectors.toCollection(TreeSet::new));
        Set<String> registered = registry.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .collect(Collectors.toCollection(TreeSet::new));
        registered.removeIf(name -> name.endsWith(".histogram")); // the buckets of the timer and the summary
        assertThat(documented).isEqualTo(registered).hasSize(9);
        for (Meter meter : registry.getMeters()) {
            if (!documented.contains(meter.getId().getName())) {
                continue;
            }
            String row = page.lines()
                    .filter(line -> line.startsWith("| `" + meter.getId().getName() + "` | "))
                    .findFirst()
                    .orElseThrow();
            for (Tag tag : meter.getId().getTags()) {
                assertThat(row).contains("`" + tag.getKey() + "`");
                assertThat(tag.getKey().equals("backend") ? page : row).contains("`" + tag.getValue() + "`");
            }
        }
    }
}
