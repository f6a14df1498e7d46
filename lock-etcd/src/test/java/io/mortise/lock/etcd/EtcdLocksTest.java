// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the basic use of a lock: acquire, wait and hand off. */
class EtcdLocksTest extends OneServerTest {
    @Test
    void S01_whileOneClientHoldsTheOtherWaitsAndIsNext() throws Exception {
        try (LockClient one = Locks.connect(server.url());
                LockClient other = Locks.connect(server.url())) {
            Lease held = one.named("x").acquire();
            assertThat(other.named("x").tryAcquire()).isEmpty();
            assertThat(other.named("x").tryAcquire(Duration.ofSeconds(2))).isEmpty();
            CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
            Optional<Lease> elsewhere = other.named("x/y").tryAcquire();
            assertThat(elsewhere).hasValueSatisfying(Lease::close);
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Lease next = waiting.get(5, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }
}
