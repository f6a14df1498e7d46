// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/** Tests the calls of operators while all threads of the application's callback executor are blocked. */
@Timeout(60)
class AdminCallTest {
    private static final Duration LIMIT = Duration.ofMillis(50);
    private static final ClientOptions BLOCKED = ClientOptions.defaults().callbackExecutor(task -> {});

    @Test
    void aBusyCallbackExecutorIsReported() {
        try (LockClient client = MemoryLocks.connect(MemoryStore.create(), BLOCKED)) {
            Health health = new LockHealthIndicator(client, LIMIT).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("error")).asString().contains("the callback executor is busy");
            LocksEndpoint endpoint = new LocksEndpoint(client, LIMIT);
            assertThatThrownBy(() -> endpoint.locks("a", null, null, null))
                    .hasMessageContaining("the callback executor is busy");
        }
    }
}
