// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener.AcquireObserver;
import io.mortise.lock.LockListener.LeaseObserver;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.core.client.MapStore;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the events for JDK Flight Recorder. */
class FlightRecorderListenerTest {
    private static final String PREFIX = "io.mortise.lock.";
    private static final List<String> ALL = List.of("LockWait", "LockHold", "LeaseRenewal", "LeaseLoss");
    private static final LossReason EXPIRED = new LossReason(LossReason.Kind.EXPIRED, "no answer");

    @TempDir
    private Path folder;

    private final FlightRecorderListener listener = new FlightRecorderListener();

    /** Returns the Mortise events that are recorded while the action runs, by the start of each. */
    private List<RecordedEvent> recorded(Consumer<Recording> settings, Runnable action) throws Exception {
        Path file = folder.resolve("test.jfr");
        try (Recording recording = new Recording()) {
            settings.accept(recording);
            recording.start();
            action.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith(PREFIX))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    private static String name(RecordedEvent event) {
        return event.getEventType().getName().substring(PREFIX.length());
    }

    private static List<RecordedEvent> named(String name, List<RecordedEvent> events) {
        return events.stream().filter(event -> name(event).equals(name)).toList();
    }

    private static RecordedEvent only(String name, List<RecordedEvent> events) {
        List<RecordedEvent> found = named(name, events);
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    private static void disable(Recording recording, List<String> events) {
        events.forEach(event -> recording.disable(PREFIX + event));
    }

    private static Consumer<Recording> without(String... events) {
        return recording -> disable(recording, List.of(events));
    }

    private static Consumer<Recording> onlyWith(String event) {
        return recording -> disable(
                recording, ALL.stream().filter(each -> !each.equals(event)).toList());
    }

    /** Returns a lease that has a fencing token, or none if the token is null. */
    private static Lease lease(@Nullable Long token) {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (proxy, method, arguments) -> {
                    if (token == null) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return token;
                });
    }

    private AcquireObserver start(String lock) {
        return Objects.requireNonNull(listener.acquireStarted("test", lock));
    }

    /** Lets real time pass, in which the duration of an event that has begun grows. */
    private static void passMillis(long millis) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < millis * 1_000_000) {
            Thread.onSpinWait();
        }
    }

    private static void contend() {
        ManualClock clock = new ManualClock();
        MapStore store = new MapStore(clock);
        ClientOptions direct = ClientOptions.defaults().callbackExecutor(Runnable::run);
        try (LockClient a = BackendClients.open(context -> new LeaseStoreBackend(store, context), direct, clock);
                LockClient b = BackendClients.open(context -> new LeaseStoreBackend(store, context), direct, clock)) {
            Lease first = a.named("x").acquireAsync().join();
            CompletableFuture<Lease> waiting = b.named("x").acquireAsync();
            clock.advance(Duration.ofSeconds(10));
            first.releaseAsync().join();
            clock.advance(Duration.ofSeconds(1));
            store.rows.clear();
            assertThat(waiting.join().releaseAsync().join()).isEqualTo(ReleaseOutcome.LOST);
        }
    }

    @Test
    void S07_waitsHoldsRenewalsAndLossesOfAClientAreRecorded() throws Exception {
        List<RecordedEvent> events = recorded(without(), FlightRecorderListenerTest::contend);
        assertThat(events)
                .extracting(FlightRecorderListenerTest::name)
                .containsExactlyInAnyOrder("LockHold", "LockHold", "LockWait", "LeaseRenewal", "LeaseLoss");
        assertThat(events).allSatisfy(event -> {
            assertThat(event.getString("lock")).isEqualTo("x");
            assertThat(event.getString("backend")).isEqualTo("custom");
            assertThat(event.getEventType().getCategoryNames()).containsExactly("Mortise");
            assertThat(event.getEventType().getLabel()).isNotEmpty();
            assertThat(event.getEventType().getDescription()).isNotEmpty();
            assertThat(event.getStackTrace()).isNull();
        });

        RecordedEvent wait = only("LockWait", events);
        assertThat(wait.getString("outcome")).isEqualTo("granted");
        assertThat(wait.getLong("token")).isEqualTo(2);
        RecordedThread acquirer = wait.getValue("acquirer");
        assertThat(acquirer.getJavaName()).isEqualTo(Thread.currentThread().getName());

        RecordedEvent renewal = only("LeaseRenewal", events);
        assertThat(renewal.getDuration("slack")).isEqualTo(Duration.ofMillis(19_698));
        assertThat(renewal.getDuration("leaseDuration")).isEqualTo(Duration.ofSeconds(30));
        assertThat(renewal.getLong("token")).isEqualTo(1);

        RecordedEvent loss = only("LeaseLoss", events);
        assertThat(loss.getString("reason")).isEqualTo("removed");
        assertThat(loss.getString("detail")).isNotEmpty();
        assertThat(loss.getLong("token")).isEqualTo(2);
        assertThat(named("LockHold", events))
                .extracting(hold -> hold.getString("outcome"))
                .containsExactly("released", "lost");
    }

    @Test
    void S09_S10_eachEndOfAWaitIsRecordedWithItsOutcome() throws Exception {
        List<RecordedEvent> waits = recorded(without(), () -> {
            for (String outcome : List.of("busy", "withdrawn", "failed")) {
                AcquireObserver observer = start(outcome);
                observer.waiting();
                passMillis(2);
                switch (outcome) {
                    case "busy" -> observer.busy();
                    case "withdrawn" -> observer.withdrawn();
                    default -> observer.failed(new BackendUnavailableException("test"));
                }
            }
            start("none").busy(); // an acquire that did not wait
        });
        assertThat(waits).extracting(FlightRecorderListenerTest::name).containsOnly("LockWait");
        assertThat(waits)
                .extracting(wait -> wait.getString("lock") + " " + wait.getString("outcome"))
                .containsExactly("busy busy", "withdrawn withdrawn", "failed failed");
        assertThat(waits).allSatisfy(wait -> {
            assertThat(wait.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(1));
            assertThat(wait.getLong("token")).isEqualTo(-1);
        });
    }

    @Test
    void S05_S07_eachEndOfAHoldIsRecordedWithItsOutcomeAndToken() throws Exception {
        List<RecordedEvent> events = recorded(without(), () -> {
            Objects.requireNonNull(start("unknown").granted(lease(7L))).released(ReleaseOutcome.UNKNOWN, Duration.ZERO);
            LeaseObserver hold = Objects.requireNonNull(start("lost").granted(lease(null)));
            passMillis(2);
            hold.lost(EXPIRED, Duration.ZERO);
            hold.released(ReleaseOutcome.LOST, Duration.ZERO);
        });
        List<RecordedEvent> holds = named("LockHold", events);
        assertThat(holds)
                .extracting(
                        hold -> hold.getString("lock") + " " + hold.getString("outcome") + " " + hold.getLong("token"))
                .containsExactly("unknown unknown 7", "lost lost -1");
        assertThat(holds.get(1).getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(1));
        RecordedEvent loss = only("LeaseLoss", events);
        assertThat(loss.getString("reason")).isEqualTo("expired");
        assertThat(loss.getString("detail")).isEqualTo("no answer");
    }

    /** The threshold of a recording compares the duration until the end, so an event ends before it is compared. */
    @Test
    void waitsAndHoldsThatAreShorterThanTheThresholdAreLeftOut() throws Exception {
        Runnable action = () -> {
            AcquireObserver observer = start("x");
            observer.waiting();
            passMillis(10);
            LeaseObserver hold = Objects.requireNonNull(observer.granted(lease(1L)));
            passMillis(10);
            hold.released(ReleaseOutcome.RELEASED, Duration.ZERO);
        };
        for (Duration threshold : List.of(Duration.ofMillis(5), Duration.ofHours(1))) {
            List<RecordedEvent> events = recorded(
                    recording -> List.of("LockWait", "LockHold")
                            .forEach(event -> recording.enable(PREFIX + event).withThreshold(threshold)),
                    action);
            assertThat(events)
                    .extracting(FlightRecorderListenerTest::name)
                    .isEqualTo(threshold.toHours() > 0 ? List.of() : List.of("LockWait", "LockHold"));
        }
    }

    @Test
    void anAcquireIsObservedOnlyWhileARecordingHasOneOfTheEvents() throws Exception {
        assertThat(listener.acquireStarted("test", "x")).as("no recording").isNull();
        for (String event : ALL) {
            List<RecordedEvent> events = recorded(
                    onlyWith(event),
                    () -> assertThat(listener.acquireStarted("test", "x"))
                            .as(event)
                            .isNotNull());
            assertThat(events).isEmpty();
        }
        recorded(
                onlyWith("none of them"),
                () -> assertThat(listener.acquireStarted("test", "x"))
                        .as("all disabled")
                        .isNull());
    }

    @Test
    void aRecordingMayLeaveEventsOut() throws Exception {
        for (String event : ALL) {
            assertThat(recorded(onlyWith(event), FlightRecorderListenerTest::contend))
                    .extracting(FlightRecorderListenerTest::name)
                    .isNotEmpty()
                    .containsOnly(event);
        }
    }
}
