// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.FailFastKeyRangeWatch;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches the session's key to detect the end of the session at once. */
final class SessionKeyWatch implements FailFastKeyRangeWatch.Listener {
    private static final Logger log = LoggerFactory.getLogger(SessionKeyWatch.class);
    private static final Duration RETRY = Duration.ofMillis(500);

    private final EtcdSession session;
    private final EtcdRequestSender requests;
    private final LockClock clock;
    private volatile @Nullable FailFastKeyRangeWatch watch;

    SessionKeyWatch(EtcdSession session, EtcdRequestSender requests, LockClock clock) {
        this.session = session;
        this.requests = requests;
        this.clock = clock;
    }

    /**
     * Opens the watch at the current revision; one read closes the gap, since the store may have compacted earlier
     * revisions by then. Has no effect on a session that has ended.
     */
    void open() {
        if (session.hasEnded()) {
            return;
        }
        watch = FailFastKeyRangeWatch.open(
                requests, session.sessionKey(), WatchOption.builder().withNoPut(true), this);
        if (session.hasEnded()) {
            close();
        }
    }

    /** Ends the watch, since the session has ended. */
    void close() {
        FailFastKeyRangeWatch closing = watch;
        if (closing != null) {
            closing.close();
        }
    }

    @Override
    public void created() {
        session.checkAlive().whenComplete((exists, failure) -> {
            if (failure != null) {
                // The next renewal detects the end.
                log.debug("event=session-read-failed lease={}", session.leaseIdHex(), failure);
            }
        });
    }

    @Override
    public void changed(WatchResponse events) {
        for (WatchEvent event : events.getEvents()) {
            if (event.getEventType() == WatchEvent.EventType.DELETE) {
                session.end(EtcdSession.KEY_DELETED);
            }
        }
    }

    @Override
    public void ended(Throwable cause) {
        log.debug("event=session-watch-ended lease={} cause=\"{}\"", session.leaseIdHex(), cause.toString());
        clock.schedule(RETRY, this::open);
    }
}
