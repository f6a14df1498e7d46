// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that the options of clients and locks reject invalid values. */
class OptionsTest {
    @Test
    void S14_leaseDurationIsFromOneSecondToOneHour() {
        LockOptions options = LockOptions.defaults();
        assertThat(options.leaseDuration(Duration.ofSeconds(1)).leaseDuration()).contains(Duration.ofSeconds(1));
        assertThat(options.leaseDuration(Duration.ofHours(1)).leaseDuration()).contains(Duration.ofHours(1));
        for (Duration bad : new Duration[] {Duration.ofMillis(999), Duration.ofMillis(3_600_001), Duration.ZERO}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.leaseDuration(bad))
                    .withMessageContainingAll("leaseDuration", bad.toString(), "PT1S", "PT1H");
        }
    }

    @Test
    void S14_durationsArePositiveAndNotEndless() {
        Duration endless = Duration.ofDays(36_501);
        for (Duration bad : new Duration[] {Duration.ZERO, Duration.ofNanos(-1), endless}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LockOptions.defaults().maxHold(bad))
                    .withMessageContainingAll("maxHold", bad.toString(), "must be");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ClientOptions.defaults().requestTimeout(bad))
                    .withMessageContainingAll("requestTimeout", bad.toString());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ClientOptions.defaults().connectTimeout(bad))
                    .withMessageContaining("connectTimeout");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ClientOptions.defaults().unavailableAfter(bad))
                    .withMessageContaining("unavailableAfter");
        }
    }

    @Test
    void S14_metadataIsLimitedInItsStoredForm() {
        LockOptions fits = LockOptions.defaults().metadata(Map.of("k", "v".repeat(1024 - " meta.k=".length())));
        assertThat(fits.metadata()).hasSize(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().metadata(Map.of("k", "é".repeat(200))))
                .withMessageContainingAll("1208", "1024");
    }

    @Test
    @SuppressWarnings("NullAway")
    void listenersAreAddedToACopy() {
        LockListener first = (backend, lockName) -> null;
        LockListener second = (backend, lockName) -> null;
        ClientOptions one = ClientOptions.defaults().listener(first);
        assertThat(one.listener(second).requestTimeout(Duration.ofSeconds(1)).listeners())
                .containsExactly(first, second);
        assertThat(one.listeners()).containsExactly(first);
        assertThat(ClientOptions.defaults().listeners()).isEmpty();
        assertThatNullPointerException().isThrownBy(() -> one.listener(null)).withMessage("listener");
    }
}
