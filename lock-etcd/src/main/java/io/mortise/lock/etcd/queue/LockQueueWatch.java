// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.connection.KeyRangeWatch;
import org.jspecify.annotations.Nullable;

/**
 * One watch of a lock's keys until its first failure, and the read of the queue once it is registered. It starts from now,
 * since the server serves one that starts in the past from a slow loop; a read closes the gap.
 */
final class LockQueueWatch implements KeyRangeWatch.Listener {
    /** Told on the client's threads, under no lock of ours. Nothing more after {@link LockQueueWatch#close} but what is under way. */
    interface Listener {
        /** What was there once the watch was registered. Changes may have been told before. */
        void refreshed(LockQueueWatch from, GetResponse found);

        void changed(LockQueueWatch from, WatchResponse events);

        /** It heard its last. */
        void ended(LockQueueWatch from, Throwable cause);
    }

    private final EtcdRequests calls;
    private final String contenders;
    private final Listener listener;

    @GuardedBy("this")
    private @Nullable KeyRangeWatch watch;

    @GuardedBy("this")
    private boolean closed;

    /** @param contenders what all keys that it watches begin with */
    LockQueueWatch(EtcdRequests calls, String contenders, Listener listener) {
        this.calls = calls;
        this.contenders = contenders;
        this.listener = listener;
    }

    private ByteSequence range() {
        return EtcdKeyLayout.bytes(contenders);
    }

    /** Once. Without effect after {@link #close}. */
    void open() {
        if (isClosed()) {
            return;
        }
        WatchOption.Builder all = WatchOption.builder().withRange(OptionsUtil.prefixEndOf(range()));
        KeyRangeWatch opened = KeyRangeWatch.open(calls, range(), all, this);
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

    /** Returns at once. Idempotent. */
    void close() {
        KeyRangeWatch closing;
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
        calls.queue(range()).whenComplete((found, failure) -> {
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
