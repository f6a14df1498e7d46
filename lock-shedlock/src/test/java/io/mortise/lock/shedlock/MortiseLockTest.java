// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests what the contract of ShedLock leaves open, in one process. */
class MortiseLockTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private final LockClient client = Locks.connect("memory:" + UUID.randomUUID());
    private final MortiseLockProvider provider = new MortiseLockProvider(client);

    @AfterEach
    void close() {
        client.close();
    }

    private static LockConfiguration configuration(String name) {
        return new LockConfiguration(Instant.now(), name, LONG, Duration.ZERO);
    }

    private boolean isFree(String name) {
        return client.named(name).status().join().holders().isEmpty();
    }

    @Test
    void S05_anErrorAfterTheGrantFreesTheLock() {
        LockConfiguration failing = new LockConfiguration(Instant.now(), "job", LONG, Duration.ZERO) {
            @Override
            public Duration getLockAtMostFor() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        assertThatThrownBy(() -> provider.lock(failing)).isInstanceOf(OutOfMemoryError.class);
        Await.until("the lock is free", Duration.ofSeconds(20), () -> isFree("job"));
    }

    @Test
    void aLockThatIsGrantedAfterItsTimeIsFreedAndLocksNothing() {
        Duration passed = Duration.ZERO;
        assertThat(provider.lock(new LockConfiguration(Instant.now(), "job", passed, passed)))
                .isEmpty();
        assertThat(isFree("job")).isTrue();
    }

    /** The time of an extension that is refused must not end the lease, which another extension has. */
    @Test
    void aRefusedExtensionSparesTheLease() {
        SimpleLock first = provider.lock(configuration("job")).orElseThrow();
        SimpleLock second = first.extend(LONG, Duration.ZERO).orElseThrow();
        for (Duration atMost : List.of(Duration.ZERO, Duration.ofMillis(20))) {
            assertThatThrownBy(() -> first.extend(atMost, Duration.ZERO))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("extended");
        }
        new CompletableFuture<Boolean>() // the timer has one thread, which runs this after what was due before
                .completeOnTimeout(true, 50, TimeUnit.MILLISECONDS)
                .join();
        assertThat(isFree("job")).isFalse();
        second.unlock();
        assertThat(isFree("job")).isTrue();
    }

    /** Returns a lease whose first release is interrupted before the store has replied. */
    private static Lease interruptedAtRelease(Lease lease, List<ReleaseOutcome> outcomes) {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (p, method, args) -> {
                    if (!method.getName().startsWith("release")) {
                        return method.invoke(lease, args);
                    }
                    ReleaseOutcome outcome = (ReleaseOutcome) method.invoke(lease, args);
                    if (outcomes.isEmpty()) {
                        Thread.currentThread().interrupt();
                        outcome = ReleaseOutcome.UNKNOWN;
                    }
                    outcomes.add(outcome);
                    return outcome;
                });
    }

    @Test
    void S05_anInterruptDuringTheReleaseDoesNotHideTheOutcome() throws InterruptedException {
        for (Duration atLeast : List.of(Duration.ZERO, Duration.ofMinutes(1))) {
            Lease lease = client.named("job " + atLeast).acquire();
            List<ReleaseOutcome> outcomes = new ArrayList<>();
            new MortiseLock(
                            provider,
                            new LockConfiguration(Instant.now(), lease.lockName(), LONG, atLeast),
                            interruptedAtRelease(lease, outcomes),
                            System.nanoTime(),
                            CompletableFuture.completedFuture(null))
                    .unlock();
            assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
            assertThat(outcomes).containsExactly(ReleaseOutcome.UNKNOWN, ReleaseOutcome.RELEASED);
        }
    }

    @Test
    void S19_aNameCannotForgeTheMessageAroundIt() {
        SimpleLock lock = provider.lock(configuration("a\" is free\n'b")).orElseThrow();
        lock.unlock();
        assertThatThrownBy(lock::unlock).hasMessage("lock \"a\\\" is free\\n'b\" is already unlocked");
    }
}
