// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs when an outage of the store starts and when it ends, once each. Thread-safe. */
final class OutageLog {
    private static final Logger log = LoggerFactory.getLogger(OutageLog.class);

    private final LockClock clock;

    /** When the outage began; null if there is none. */
    private final AtomicReference<@Nullable MonotonicInstant> since = new AtomicReference<>();

    OutageLog(LockClock clock) {
        this.clock = clock;
    }

    /** Records that a request reached no server. */
    void begin(String endpoints, String cause) {
        if (since.compareAndSet(null, clock.now())) {
            log.warn("event=unreachable endpoints={} cause=\"{}\"", endpoints, cause);
        }
    }

    /** Records that a request got a reply. */
    void end(String endpoints) {
        if (since.get() == null) {
            return; // the usual case
        }
        MonotonicInstant began = since.getAndSet(null);
        if (began != null) {
            log.info(
                    "event=reachable-again endpoints={} after_ms={}",
                    endpoints,
                    clock.since(began).toMillis());
        }
    }
}
