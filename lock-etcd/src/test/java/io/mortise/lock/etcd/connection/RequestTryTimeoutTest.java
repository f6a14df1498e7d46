// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RequestTryTimeoutTest {
    private static final Duration WHOLE = Duration.ofSeconds(5);
    private static final Duration PART = Duration.ofMillis(1_250);

    private final ManualClock clock = new ManualClock();
    private final RequestTryTimeout tries = RequestTryTimeout.forSeveralMembers(clock, WHOLE, Duration.ofSeconds(15));

    private void timeOut() {
        MonotonicInstant sent = clock.now();
        clock.advance(tries.current());
        tries.onTimeout(sent);
    }

    @Test
    void aTryGetsAPartOfTheRequestTimeoutOrOfAShorterLease() {
        assertThat(tries.current()).isEqualTo(PART);
        assertThat(RequestTryTimeout.forSeveralMembers(clock, WHOLE, Duration.ofSeconds(4))
                        .current())
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(RequestTryTimeout.forSeveralMembers(clock, WHOLE, Duration.ofSeconds(1))
                        .current())
                .isEqualTo(Duration.ofMillis(500));
        assertThat(RequestTryTimeout.forSeveralMembers(clock, Duration.ofMillis(300), WHOLE)
                        .current())
                .isEqualTo(Duration.ofMillis(300));
        assertThat(RequestTryTimeout.forSingleMember(clock, WHOLE).current()).isEqualTo(WHOLE);
    }

    @Test
    void S15_aSlowStoreGetsTheWholeRequestTimeoutUntilItIsFastAgain() {
        timeOut();
        timeOut();
        assertThat(tries.current()).isEqualTo(PART);
        timeOut();
        assertThat(tries.current()).isEqualTo(WHOLE);
        MonotonicInstant sent = clock.now();
        clock.advance(Duration.ofSeconds(2));
        tries.onReply(sent);
        assertThat(tries.current()).as("the store is still slow").isEqualTo(WHOLE);
        tries.onReply(clock.now());
        assertThat(tries.current()).isEqualTo(PART);
        timeOut();
        assertThat(tries.current()).isEqualTo(PART);
    }
}
