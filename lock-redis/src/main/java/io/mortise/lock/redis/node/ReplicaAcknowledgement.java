// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waits until enough replicas have acknowledged the writes of one connection. The WAIT command blocks all later requests on its
 * connection. So only one WAIT at a time is sent for all writes, with a short timeout, and other requests are sent in between.
 */
public final class ReplicaAcknowledgement {
    private static final int WAIT_MILLIS = 20;

    private final RedisNodeClient node;
    private final int replicas;
    private final LockClock clock;

    @GuardedBy("this")
    private List<Written> next = new ArrayList<>();

    @GuardedBy("this")
    private boolean waiting;

    /** Callback that receives the outcome of one wait. */
    public interface Outcome {
        /**
         * Called once, on an I/O thread or the timer's.
         *
         * @param failure null if enough replicas have the write, else why that is not known
         */
        void completed(@Nullable BackendUnavailableException failure);
    }

    private record Written(int epoch, MonotonicInstant until, Outcome outcome) {}

    /** @param replicas how many replicas must have a write; 0 if none need to */
    ReplicaAcknowledgement(RedisNodeClient node, int replicas, LockClock clock) {
        this.node = node;
        this.replicas = replicas;
        this.clock = clock;
    }

    /** Returns whether a write counts only once replicas have it. */
    public boolean required() {
        return replicas > 0;
    }

    /**
     * Waits until replicas have all writes that the server has acknowledged so far in that epoch.
     *
     * @param until when to give up
     */
    public void await(int epoch, MonotonicInstant until, Outcome outcome) {
        synchronized (this) {
            next.add(new Written(epoch, until, outcome));
            if (waiting) {
                return;
            }
            waiting = true;
        }
        sendWait();
    }

    private void sendWait() {
        List<Written> batch;
        synchronized (this) {
            batch = next;
            next = new ArrayList<>();
            waiting = !batch.isEmpty();
        }
        if (batch.isEmpty()) {
            return;
        }
        node.execute("replication", commands -> commands.waitForReplication(replicas, WAIT_MILLIS))
                .whenComplete((acknowledged, failure) -> {
                    batch.forEach(written -> report(written, acknowledged, failure));
                    sendWait();
                });
    }

    private void report(Written written, @Nullable Long acknowledged, @Nullable Throwable failure) {
        if (failure != null) {
            written.outcome.completed(new BackendUnavailableException(what("an unknown number of"), failure));
        } else if (written.epoch != node.epoch()) {
            // A new connection has written nothing yet, so WAIT does not cover the writes of the old one.
            written.outcome.completed(
                    new BackendUnavailableException(what("an unknown number of") + ": the connection was lost"));
        } else if (acknowledged != null && acknowledged >= replicas) {
            written.outcome.completed(null);
        } else if (clock.hasPassed(written.until)) {
            written.outcome.completed(new BackendUnavailableException(what(String.valueOf(acknowledged))));
        } else {
            synchronized (this) {
                next.add(written);
            }
        }
    }

    private String what(String acknowledged) {
        return acknowledged + " of the " + replicas + " replicas that waitReplicas requires have the lock's grant at "
                + node.endpoints();
    }
}
