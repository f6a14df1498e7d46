// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs an outage once when it begins, and once when it ends. Thread-safe. */
final class OutageLog {
    private static final Logger log = LoggerFactory.getLogger(OutageLog.class);

    private final LockClock clock;

    /** Null while there is none. */
    private final AtomicReference<@Nullable MonotonicTime> since = new AtomicReference<>();

    OutageLog(LockClock clock) {
        this.clock = clock;
    }

    /** A request found no server. */
    void begin(String endpoints, String cause) {
        if (since.compareAndSet(null, clock.now())) {
            log.warn("event=unreachable endpoints={} cause=\"{}\"", endpoints, cause);
        }
    }

    /** A request was answered. */
    void end(String endpoints) {
        if (since.get() == null) {
            return; // as a rule
        }
        MonotonicTime began = since.getAndSet(null);
        if (began != null) {
            log.info(
                    "event=reachable-again endpoints={} after_ms={}",
                    endpoints,
                    clock.since(began).toMillis());
        }
    }
}
