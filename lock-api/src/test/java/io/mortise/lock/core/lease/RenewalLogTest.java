// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.core.client.NoopBackend;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.core.runtime.RecordedLog;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Tests that an outage of renewals is logged in a few lines. */
class RenewalLogTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final ManualClock clock = new ManualClock();
    private final RecordedLog recorded = new RecordedLog();
    private final RenewalLog log = new RenewalLog(clock, new ThrottledLog(clock, recorded.logger), recorded.logger);
    private final LeaseKeeper keeper =
            new LeaseKeeper(clock, new LastResponse(clock), log, Duration.ofSeconds(1), new Random(1));
    private final List<Grant> grants = new ArrayList<>();
    private boolean silent;
    private boolean firstSilent;

    private final class Grant extends GrantValidity {
        Grant() {
            super(clock, LEASE.dividedBy(3), clock.now().plus(LEASE));
        }

        /** Renews this grant in a separate request. */
        void renew() {
            if (silent || (firstSilent && this == grants.get(0))) {
                renewalUnknown(new IllegalStateException("no answer"));
            } else {
                extend(clock.now().plus(LEASE));
            }
        }
    }

    private void hold(int count) {
        keeper.start(new NoopBackend("test") {
            @Override
            public Contender enqueue(LockRequest request, ContenderListener listener) {
                throw new UnsupportedOperationException();
            }

            @Override
            public void renew(List<GrantValidity> due) {
                due.forEach(each -> ((Grant) each).renew());
            }
        });
        for (int i = 0; i < count; i++) {
            grants.add(new Grant());
            assertThat(keeper.hold(grants.get(i))).isTrue();
        }
    }

    private List<String> lines() {
        return recorded.lines(Level.INFO);
    }

    @Test
    void S07_anOutageIsOneLineAtItsStartAndOneAtItsEnd() {
        hold(200);
        silent = true;
        clock.advance(Duration.ofSeconds(20));
        assertThat(lines())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("WARN event=renewal-unknown leases=1 left_ms=20000 ");
        assertThat(recorded.lines(Level.DEBUG)).as("the others").hasSizeGreaterThan(1_000);
        silent = false;
        clock.advance(Duration.ofSeconds(10));
        assertThat(lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("INFO event=renewal-unknown-over renewed=200 lost=0 released=0 requests=")
                .contains(" after_ms=1");
    }

    @Test
    void S07_anOutageOfOneLeaseDoesNotEndWithTheRenewalOfAnother() {
        hold(2);
        firstSilent = true;
        clock.advance(Duration.ofSeconds(10));
        assertThat(lines()).singleElement().asString().startsWith("WARN event=renewal-unknown leases=1 ");
        clock.advance(Duration.ofSeconds(10)); // the other one is renewed again
        assertThat(lines()).hasSize(1);
        firstSilent = false;
        clock.advance(Duration.ofSeconds(4));
        assertThat(lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("INFO event=renewal-unknown-over renewed=1 lost=0 released=0 requests=")
                .doesNotContain("requests=-");
    }

    @Test
    void S07_aRequestThatFailsForManyLeasesIsOneLineWithTheirCountAndTheLeastTimeLeft() {
        Throwable cause = new IllegalStateException("no answer");
        for (int seconds : new int[] {9, 4, 7}) {
            log.failed(cause, Duration.ofSeconds(seconds), true);
        }
        assertThat(lines()).as("before all failures are recorded").isEmpty();
        clock.advance(Duration.ZERO);
        assertThat(lines())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("WARN event=renewal-unknown leases=3 left_ms=4000 ");
    }

    @Test
    void S07_anOutageThatEndsAllLeasesIsLoggedWithTheirNumber() {
        hold(200);
        silent = true;
        clock.advance(Duration.ofSeconds(15));
        keeper.unhold(grants.get(0));
        clock.advance(LEASE.multipliedBy(3));
        assertThat(lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("INFO event=renewal-unknown-over renewed=0 lost=199 released=1 requests=");
    }

    @Test
    void S07_anUnstableConnectionIsLoggedOnlyAFewTimes() {
        hold(10);
        for (int i = 0; i < 100; i++) {
            silent = i % 2 == 0;
            clock.advance(Duration.ofMillis(100));
            keeper.renewNow(each -> true);
            clock.advance(Duration.ZERO);
        }
        assertThat(lines()).hasSizeLessThanOrEqualTo(12);
    }
}
