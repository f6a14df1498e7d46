// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.testing.ManualClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests the events for JDK Flight Recorder on a store and on the module path, and a runtime without it. */
class FlightRecorderTest {
    private static final String PREFIX = "io.mortise.lock.";

    @TempDir
    private Path folder;

    /** Returns the Mortise events that are recorded while the action runs, by the start of each. */
    private List<RecordedEvent> recorded(Action action) throws Exception {
        Path file = folder.resolve("test.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            action.run();
            recording.stop();
            recording.dump(file);
        }
        return mortiseEvents(file);
    }

    private interface Action {
        void run() throws Exception;
    }

    private static List<RecordedEvent> mortiseEvents(Path file) throws IOException {
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith(PREFIX))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    private static List<String> names(List<RecordedEvent> events) {
        return events.stream()
                .map(event -> event.getEventType().getName().substring(PREFIX.length()))
                .toList();
    }

    private static RecordedEvent only(List<RecordedEvent> events, String name) {
        List<RecordedEvent> found = events.stream()
                .filter(event -> event.getEventType().getName().equals(PREFIX + name))
                .toList();
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    @Test
    void anAcquireThatDoesNotWaitHasNoWaitEvent() throws Exception {
        MemoryStore store = MemoryStore.create(new ManualClock());
        try (LockClient client = MemoryLocks.connect(store, ClientOptions.defaults())) {
            List<RecordedEvent> events = recorded(() -> {
                Lease lease = client.named("x").acquire();
                assertThat(client.named("x").tryAcquire()).isEmpty();
                lease.release();
            });
            assertThat(names(events)).containsExactly("LockHold");
        }
    }

    /** The log line and the event of a loss agree, whoever notices it. */
    @Test
    void S07_aLossThatOnlyTheReleaseFindsIsRecordedAndLogged() throws Exception {
        String name = UUID.randomUUID().toString(); // one log serves all tests
        MemoryStore store = MemoryStore.create(new ManualClock());
        try (LockClient client = MemoryLocks.connect(store, ClientOptions.defaults())) {
            List<RecordedEvent> events = recorded(() -> {
                Lease lease = client.named(name).acquire();
                store.faults().expireUnnoticed(name);
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
            });
            assertThat(names(events)).containsExactlyInAnyOrder("LockHold", "LeaseLoss");
            assertThat(only(events, "LockHold").getString("outcome")).isEqualTo("lost");
            RecordedEvent loss = only(events, "LeaseLoss");
            assertThat(loss.getString("reason")).isEqualTo("removed");
            assertThat(loss.getString("detail")).contains("when it was released");
        }
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        assertThat(Files.readString(log)).containsOnlyOnce("event=lost lock=\"" + name + "\"");
    }

    private static String output(List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    private static String path(Class<?>... types) {
        return Stream.of(types)
                .map(type ->
                        type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .collect(Collectors.joining(System.getProperty("path.separator")));
    }

    @Test
    void aRuntimeWithoutTheFlightRecorderWorks() throws Exception {
        String output = output(List.of(
                "--limit-modules",
                "java.base",
                "-cp",
                path(LockClient.class, MemoryLocks.class, LockProgram.class, LoggerFactory.class),
                LockProgram.class.getName()));
        assertThat(output).contains("RELEASED, flight recorder: false, core: unnamed module");
    }

    /** The events are in a package that the module does not export. */
    @Test
    void eventsAreRecordedOnTheModulePath() throws Exception {
        Path file = folder.resolve("modules.jfr");
        String output = output(List.of(
                "-XX:StartFlightRecording:filename=" + file,
                "--module-path",
                path(LockClient.class, MemoryLocks.class, LoggerFactory.class),
                "--patch-module",
                "io.mortise.lock.memory=" + path(LockProgram.class),
                "--add-modules",
                "jdk.jfr",
                "-m",
                "io.mortise.lock.memory/" + LockProgram.class.getName()));
        assertThat(output).contains("RELEASED, flight recorder: true, core: module io.mortise.lock");
        assertThat(Files.size(file)).isPositive();
        assertThat(names(mortiseEvents(file))).containsExactly("LockHold");
    }
}
