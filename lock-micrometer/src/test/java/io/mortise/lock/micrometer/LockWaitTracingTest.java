// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that each wait for a lock, and nothing else, is one observation, which ends once. */
class LockWaitTracingTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);

    private final ManualClock clock = new ManualClock();
    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final MemoryStore store = MemoryStore.create(clock);
    private final MemoryFaults faults = store.faults();
    private final LockClient client = MemoryLocks.connect(store, DIRECT.listener(LockWaitTracing.of(registry)));
    private final LockClient other = MemoryLocks.connect(store, DIRECT);

    @BeforeEach
    void alsoMeasureAsSpringBootDoes() {
        registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    }

    @AfterEach
    void close() {
        faults.heal();
        clock.advance(Duration.ofSeconds(2)); // for cleanups that wait for their next try
        client.close();
        other.close();
    }

    @Test
    void anAcquireThatDoesNotWaitIsNoObservation() throws Exception {
        Lease lease = client.named("x").acquire();
        assertThat(client.named("x").tryAcquire()).isEmpty();
        lease.release();
        assertThat(registry).doesNotHaveAnyObservation();
    }

    @Test
    void S03_aWaitThatEndsWithAGrantHasTheFencingToken() throws Exception {
        Lease first = other.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        assertThat(registry).hasSingleObservationThat().hasBeenStarted().isNotStopped();
        first.release();
        assertThat(waiting.join().fencingToken()).isEqualTo(2);
        assertThat(registry)
                .hasSingleObservationThat()
                .hasNameEqualTo("mortise.lock.wait")
                .hasContextualNameEqualTo("lock wait")
                .hasLowCardinalityKeyValue("backend", "memory")
                .hasLowCardinalityKeyValue("outcome", "granted")
                .hasHighCardinalityKeyValue("mortise.lock.name", "x")
                .hasHighCardinalityKeyValue("mortise.lock.token", "2")
                .doesNotHaveError()
                .hasBeenStopped();
        waiting.join().release();
    }

    @Test
    void S09_S10_aWaitThatEndsWithoutAGrant() throws Exception {
        other.named("x").acquire();
        client.named("x").tryAcquireAsync(Duration.ofSeconds(1));
        clock.advance(Duration.ofSeconds(1));
        client.named("x").acquireAsync().cancel(false);
        assertThat(registry).hasNumberOfObservationsEqualTo(2);
        for (String outcome : List.of("busy", "withdrawn")) {
            assertThat(meters.get("mortise.lock.wait")
                            .tag("outcome", outcome)
                            .timer()
                            .count())
                    .isOne();
        }
    }

    @Test
    void S15_aWaitThatFailsHasTheError() throws Exception {
        other.named("x").acquire();
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        faults.refuse();
        clock.advance(Duration.ofMinutes(2));
        assertThat(waiting).isCompletedExceptionally();
        assertThat(registry)
                .hasSingleObservationThat()
                .hasLowCardinalityKeyValue("outcome", "failed")
                .hasError()
                .thenError()
                .isInstanceOf(BackendUnavailableException.class);
    }

    @Test
    void theParentIsTheObservationOfTheCaller() throws Exception {
        Lease first = other.named("x").acquire();
        Observation request = Observation.start("request", registry);
        CompletableFuture<Lease> waiting;
        try (Observation.Scope scope = request.openScope()) {
            waiting = client.named("x").acquireAsync();
        }
        first.release();
        waiting.join().release();
        request.stop();
        assertThat(registry)
                .hasObservationWithNameEqualTo("mortise.lock.wait")
                .that()
                .hasParentObservationEqualTo(request);
    }

    @Test
    void aHandlerForMetersSeesTheSameTagsEachTime() throws Exception {
        Lease first = other.named("x").acquire();
        client.named("x").acquireAsync().cancel(false);
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        first.release();
        waiting.join().release();
        assertThat(meters.get("mortise.lock.wait").timers())
                .hasSize(2)
                .allSatisfy(timer -> assertThat(timer.getId().getTags())
                        .extracting("key")
                        .containsExactly("backend", "error", "outcome"));
    }

    @Test
    void aRegistryWithoutHandlersCostsNothing() {
        assertThat(LockWaitTracing.of(ObservationRegistry.NOOP).acquireStarted("memory", "x"))
                .isNull();
    }
}
