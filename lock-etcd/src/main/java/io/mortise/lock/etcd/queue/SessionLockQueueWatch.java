// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.FailFastKeyRangeWatch;
import org.jspecify.annotations.Nullable;

/**
 * Registers a watch on a lock's keys, then reads the queue, and keeps watching until the watch fails. The watch starts at
 * the current revision, because the server serves watches that start in the past from a slow loop; the read closes the gap.
 */
final class SessionLockQueueWatch implements FailFastKeyRangeWatch.Listener {
    /**
     * Receives the read and the changes, on the client's threads, without any lock of Mortise held. After {@link
     * SessionLockQueueWatch#close} only calls that are already in progress arrive.
     */
    interface Listener {
        /** Reports the queue as read after the registration of the watch. Changes may have been reported before. */
        void refreshed(SessionLockQueueWatch from, GetResponse found);

        void changed(SessionLockQueueWatch from, WatchResponse events);

        /** Reports that the watch has ended. Last call. */
        void ended(SessionLockQueueWatch from, Throwable cause);
    }

    private final EtcdRequestSender requests;
    private final String contenderPrefix;
    private final Listener listener;

    @GuardedBy("this")
    private @Nullable FailFastKeyRangeWatch watch;

    @GuardedBy("this")
    private boolean closed;

    /** @param contenderPrefix the common prefix of the watched keys */
    SessionLockQueueWatch(EtcdRequestSender requests, String contenderPrefix, Listener listener) {
        this.requests = requests;
        this.contenderPrefix = contenderPrefix;
        this.listener = listener;
    }

    private ByteSequence range() {
        return EtcdKeyLayout.bytes(contenderPrefix);
    }

    /** Opens the watch. Called once; has no effect after {@link #close}. */
    void open() {
        if (isClosed()) {
            return;
        }
        WatchOption.Builder all = WatchOption.builder().withRange(OptionsUtil.prefixEndOf(range()));
        FailFastKeyRangeWatch opened = FailFastKeyRangeWatch.open(requests, range(), all, this);
        synchronized (this) {
            watch = opened;
        }
        if (isClosed()) {
            opened.close();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Ends the watch without waiting. Idempotent. */
    void close() {
        FailFastKeyRangeWatch closing;
        synchronized (this) {
            closed = true;
            closing = watch;
        }
        if (closing != null) {
            closing.close();
        }
    }

    @Override
    public void created() {
        requests.queue(range(), () -> !isClosed()).whenComplete((found, failure) -> {
            if (failure == null) {
                listener.refreshed(this, found);
            } else {
                listener.ended(this, failure);
            }
        });
    }

    @Override
    public void changed(WatchResponse events) {
        listener.changed(this, events);
    }

    @Override
    public void ended(Throwable cause) {
        listener.ended(this, cause);
    }
}
