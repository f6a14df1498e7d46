// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests when an acquire operation retries, and how long it says that the store was silent. */
class AcquireRetryPolicyTest {
    private static final Duration OUTAGE = Duration.ofSeconds(10);
    private static final Duration REQUEST = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final LastResponse lastResponse = new LastResponse(clock);

    private WaitPolicy waits(@Nullable Duration maxWait) {
        return new WaitPolicy(clock, lastResponse, maxWait, REQUEST, OUTAGE, Duration.ofSeconds(30), clock.now());
    }

    private AcquireRetryPolicy policy(@Nullable Duration maxWait) {
        return new AcquireRetryPolicy(new LockName("x"), waits(maxWait), lastResponse, new Random(1));
    }

    private AcquireRetryPolicy.Next fail(AcquireRetryPolicy policy) {
        policy.attemptSent(clock.now());
        return policy.failed(new BackendUnavailableException("no answer"), "test:1");
    }

    private static String message(AcquireRetryPolicy policy) {
        return String.valueOf(policy.unavailable("test:1").getMessage());
    }

    @Test
    void S15_aResponseResetsThePauses() {
        AcquireRetryPolicy policy = policy(null);
        for (int i = 0; i < 5; i++) {
            fail(policy);
        }
        assertThat(fail(policy).pause()).isGreaterThan(Duration.ofMillis(500));
        policy.busy(Duration.ZERO);
        assertThat(fail(policy).pause()).isLessThan(Duration.ofMillis(100));
    }

    @Test
    void S15_thePauseOfAnUnboundedWaitEndsWithTheOutage() {
        AcquireRetryPolicy unbounded = policy(null);
        AcquireRetryPolicy bounded = policy(Duration.ofHours(1));
        fail(unbounded);
        fail(bounded);
        clock.advance(OUTAGE.minusMillis(10));
        assertThat(fail(unbounded).pause()).isEqualTo(Duration.ofMillis(10));
        assertThat(fail(bounded).pause()).isGreaterThanOrEqualTo(Duration.ofMillis(50));
        clock.advance(Duration.ofMillis(10));
        assertThat(fail(unbounded).outcome()).isInstanceOf(AcquireOutcome.Failed.class);
        assertThat(fail(bounded).outcome()).isNull();
    }

    @Test
    void S15_theMessageTellsTheTimeSinceTheFirstRequestWithoutResponse() {
        AcquireRetryPolicy policy = policy(null);
        clock.advance(Duration.ofSeconds(5)); // no request: this is not silence
        policy.attemptSent(clock.now());
        clock.advance(Duration.ofMillis(700));
        assertThat(message(policy)).as("pending").contains("for 700 ms (test:1)");
        policy.failed(new BackendUnavailableException("no answer"), "test:1");
        clock.advance(Duration.ofMillis(300));
        fail(policy);
        assertThat(message(policy)).as("failed").contains("for 1000 ms (test:1)");
    }

    @Test
    void S15_theMessageOfAWaiterWithoutRequestsTellsTheTimeSinceTheLastResponse() {
        AcquireRetryPolicy queued = policy(null);
        clock.advance(Duration.ofSeconds(3));
        assertThat(message(queued)).contains("for 3000 ms (test:1)");
        policy(null).busy(Duration.ZERO);
        lastResponse.received();
        AcquireRetryPolicy answered = policy(null);
        answered.attemptSent(clock.now());
        clock.advance(Duration.ofSeconds(1));
        answered.busy(Duration.ZERO);
        lastResponse.received();
        clock.advance(Duration.ofSeconds(2));
        assertThat(message(answered)).as("answered since").contains("for 2000 ms (test:1)");
    }

    @Test
    void S15_aWaiterHasWaitedThroughAnOutageOnlyAfterItsLength() {
        WaitPolicy waits = waits(null);
        clock.advance(OUTAGE.minusMillis(1));
        assertThat(waits.waitedThroughOutage()).isFalse();
        clock.advance(Duration.ofMillis(1));
        assertThat(waits.waitedThroughOutage()).isTrue();
    }

    @Test
    void S15_aResponseCountsForLessThanTheLimit() {
        clock.advance(REQUEST.minusNanos(1));
        assertThat(lastResponse.within(REQUEST)).isTrue();
        clock.advance(Duration.ofNanos(1));
        assertThat(lastResponse.within(REQUEST)).isFalse();
    }
}
