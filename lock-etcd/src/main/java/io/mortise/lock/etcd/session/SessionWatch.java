// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.connection.KeyRangeWatch;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches a session's key, so that the end of the session is known at once. */
final class SessionWatch implements KeyRangeWatch.Listener {
    private static final Logger log = LoggerFactory.getLogger(SessionWatch.class);
    private static final Duration RETRY = Duration.ofMillis(500);

    private final EtcdSession session;
    private final EtcdRequests calls;
    private final LockClock clock;
    private volatile @Nullable KeyRangeWatch watch;

    SessionWatch(EtcdSession session, EtcdRequests calls, LockClock clock) {
        this.session = session;
        this.calls = calls;
        this.clock = clock;
    }

    /**
     * It starts from now, and one read closes the gap: the store may have compacted the past by then. Without effect on a session
     * that has ended.
     */
    void open() {
        if (session.hasEnded()) {
            return;
        }
        watch = KeyRangeWatch.open(
                calls, session.sessionKey(), WatchOption.builder().withNoPut(true), this);
        if (session.hasEnded()) {
            close();
        }
    }

    /** The session has ended. */
    void close() {
        KeyRangeWatch closing = watch;
        if (closing != null) {
            closing.close();
        }
    }

    @Override
    public void created() {
        session.checkAlive().whenComplete((there, failure) -> {
            if (failure != null) {
                log.debug("event=session-read-failed lease={}", session.leaseId(), failure); // a renewal tells in time
            }
        });
    }

    @Override
    public void changed(WatchResponse events) {
        for (WatchEvent event : events.getEvents()) {
            if (event.getEventType() == WatchEvent.EventType.DELETE) {
                session.end(EtcdSession.KEY_GONE);
            }
        }
    }

    @Override
    public void ended(Throwable cause) {
        log.debug("event=session-watch-ended lease={} cause=\"{}\"", session.leaseId(), cause.toString());
        clock.schedule(RETRY, this::open);
    }
}
