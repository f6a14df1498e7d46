// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SubscriptionHandshakeTest {
    @Test
    void S15_aServerThatDoesNotCountItsSubscriberIsNamed() {
        assertThatThrownBy(
                        () -> SubscriptionHandshake.requireCount(Map.of("lock:c", 0L), "redis://h:6379 prefix lock:"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("redis://h:6379");
        assertThatThrownBy(() -> SubscriptionHandshake.requireCount(Map.of(), "redis://h:6379 prefix lock:"))
                .isInstanceOf(BackendUnavailableException.class);
        assertThatCode(() -> SubscriptionHandshake.requireCount(Map.of("lock:c", 1L), "redis://h:6379 prefix lock:"))
                .doesNotThrowAnyException();
    }
}
