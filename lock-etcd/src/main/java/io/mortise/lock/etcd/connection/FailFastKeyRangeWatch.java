// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import org.jspecify.annotations.Nullable;

/**
 * Watches a range of keys, and ends at the first failure instead of resuming. jetcd's own watch would resume from a past
 * revision without notice.
 */
public final class FailFastKeyRangeWatch implements Watch.Listener {
    /** Receives watch events on the client's threads, in the server's order, without any lock of Mortise held. */
    public interface Listener {
        /** Reports that the watch is registered; from now on no event is missed. */
        void created();

        void changed(WatchResponse events);

        /** Reports that the watch has ended. Last call; not made after {@link FailFastKeyRangeWatch#close}. */
        void ended(Throwable cause);
    }

    private final Listener listener;

    @GuardedBy("this")
    private Watch.@Nullable Watcher watcher;

    @GuardedBy("this")
    private boolean ended;

    private FailFastKeyRangeWatch(Listener listener) {
        this.listener = listener;
    }

    /**
     * Opens a watch that reports its registration, and fails on a member without a leader.
     *
     * @param option the range and the start of the watch
     */
    public static FailFastKeyRangeWatch open(
            EtcdRequestSender requests, ByteSequence key, WatchOption.Builder option, Listener listener) {
        FailFastKeyRangeWatch watch = new FailFastKeyRangeWatch(listener);
        Watch.Watcher opened;
        try {
            opened = requests.watch(
                    key, option.withCreateNotify(true).withRequireLeader(true).build(), watch);
        } catch (RuntimeException e) {
            watch.onError(e);
            return watch;
        }
        if (!watch.keep(opened)) {
            opened.close();
        } else if (opened.isClosed()) {
            // jetcd reports nothing if its client was closed while the watch was being opened.
            watch.onError(new IllegalStateException("the client was closed meanwhile"));
        }
        return watch;
    }

    private synchronized boolean keep(Watch.Watcher opened) {
        watcher = opened;
        return !ended;
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

    /** Ends the watch without waiting. Idempotent. */
    public void close() {
        end();
    }

    private boolean end() {
        Watch.Watcher closing;
        synchronized (this) {
            if (ended) {
                return false;
            }
            ended = true;
            closing = watcher;
        }
        if (closing != null) {
            closing.close();
        }
        return true;
    }

    private synchronized boolean hasEnded() {
        return ended;
    }
}
