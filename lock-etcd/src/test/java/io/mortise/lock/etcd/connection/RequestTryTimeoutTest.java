// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RequestTryTimeoutTest {
    private static final Duration WHOLE = Duration.ofSeconds(5);
    private static final Duration PART = Duration.ofMillis(1_250);

    private final ManualClock clock = new ManualClock();
    private final RequestTryTimeout tries = RequestTryTimeout.parted(clock, WHOLE, Duration.ofSeconds(15));

    private void late() {
        MonotonicTime sent = clock.now();
        clock.advance(tries.now());
        tries.late(sent);
    }

    @Test
    void aTryIsAPartOfTheRequestTimeoutOrOfAShorterLease() {
        assertThat(tries.now()).isEqualTo(PART);
        assertThat(RequestTryTimeout.parted(clock, WHOLE, Duration.ofSeconds(4)).now())
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(RequestTryTimeout.parted(clock, WHOLE, Duration.ofSeconds(1)).now())
                .isEqualTo(Duration.ofMillis(500));
        assertThat(RequestTryTimeout.parted(clock, Duration.ofMillis(300), WHOLE)
                        .now())
                .isEqualTo(Duration.ofMillis(300));
        assertThat(RequestTryTimeout.whole(clock, WHOLE).now()).isEqualTo(WHOLE);
    }

    @Test
    void S15_aStoreThatIsSlowGetsTheWholeRequestTimeoutUntilItIsFastAgain() {
        late();
        late();
        assertThat(tries.now()).isEqualTo(PART);
        late();
        assertThat(tries.now()).isEqualTo(WHOLE);
        MonotonicTime sent = clock.now();
        clock.advance(Duration.ofSeconds(2));
        tries.answered(sent);
        assertThat(tries.now()).as("it is slow still").isEqualTo(WHOLE);
        tries.answered(clock.now());
        assertThat(tries.now()).isEqualTo(PART);
        late();
        assertThat(tries.now()).isEqualTo(PART);
    }
}
