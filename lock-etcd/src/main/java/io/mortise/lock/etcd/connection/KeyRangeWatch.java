// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import org.jspecify.annotations.Nullable;

/** A watch of a range of keys until its first failure. jetcd's own would resume from the past without a notice. */
public final class KeyRangeWatch implements Watch.Listener {
    /** Told on the client's threads, in the order of the server; not under any lock of ours. */
    public interface Listener {
        /** From now on nothing is missed. */
        void created();

        void changed(WatchResponse events);

        /** It heard its last. Not told after {@link KeyRangeWatch#close}. */
        void ended(Throwable cause);
    }

    private final Listener listener;

    @GuardedBy("this")
    private Watch.@Nullable Watcher watcher;

    @GuardedBy("this")
    private boolean over;

    private KeyRangeWatch(Listener listener) {
        this.listener = listener;
    }

    /**
     * Starts a watch that reports its registration, and fails on a member without a leader.
     *
     * @param option range and start of the watch
     */
    public static KeyRangeWatch open(
            EtcdRequests calls, ByteSequence key, WatchOption.Builder option, Listener listener) {
        KeyRangeWatch watch = new KeyRangeWatch(listener);
        Watch.Watcher opened;
        try {
            opened = calls.watch(
                    key, option.withCreateNotify(true).withRequireLeader(true).build(), watch);
        } catch (RuntimeException e) {
            watch.onError(e);
            return watch;
        }
        if (!watch.keep(opened)) {
            opened.close();
        }
        return watch;
    }

    private synchronized boolean keep(Watch.Watcher opened) {
        watcher = opened;
        return !over;
    }

    @Override
    public void onNext(WatchResponse response) {
        if (hasEnded()) {
            return;
        }
        if (response.isCreatedNotify()) {
            listener.created();
        } else if (!response.getEvents().isEmpty()) {
            listener.changed(response);
        }
    }

    @Override
    public void onError(Throwable failure) {
        if (end()) {
            listener.ended(failure);
        }
    }

    @Override
    public void onCompleted() {
        onError(new IllegalStateException("the watch was ended"));
    }

    /** Returns at once. Idempotent. */
    public void close() {
        end();
    }

    private boolean end() {
        Watch.Watcher closing;
        synchronized (this) {
            if (over) {
                return false;
            }
            over = true;
            closing = watcher;
        }
        if (closing != null) {
            closing.close();
        }
        return true;
    }

    private synchronized boolean hasEnded() {
        return over;
    }
}
