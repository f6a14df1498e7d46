// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waits until enough replicas have what was written on one connection. WAIT stops all that comes behind it on that connection:
 * so one at a time asks for all, and only for a moment, with the others' requests in between.
 */
public final class ReplicaAcknowledgement {
    private static final int MOMENT_MILLIS = 20;

    private final RedisNodeClient node;
    private final int replicas;
    private final LockClock clock;

    @GuardedBy("this")
    private List<Written> next = new ArrayList<>();

    @GuardedBy("this")
    private boolean asking;

    /** Told once, on an I/O thread or the timer's. */
    public interface Outcome {
        /** Enough replicas have it, or why that is not known. */
        void told(@Nullable BackendUnavailableException failure);
    }

    private record Written(int epoch, MonotonicTime until, Outcome outcome) {}

    /** @param replicas that must have it; 0: this is not asked for */
    ReplicaAcknowledgement(RedisNodeClient node, int replicas, LockClock clock) {
        this.node = node;
        this.replicas = replicas;
        this.clock = clock;
    }

    /** Whether a write counts only once replicas have it. */
    public boolean required() {
        return replicas > 0;
    }

    /**
     * Tells whether replicas have all that was answered so far in that epoch.
     *
     * @param until when that is given up
     */
    public void await(int epoch, MonotonicTime until, Outcome outcome) {
        synchronized (this) {
            next.add(new Written(epoch, until, outcome));
            if (asking) {
                return;
            }
            asking = true;
        }
        ask();
    }

    private void ask() {
        List<Written> these;
        synchronized (this) {
            these = next;
            next = new ArrayList<>();
            asking = !these.isEmpty();
        }
        if (these.isEmpty()) {
            return;
        }
        node.ask("replication", commands -> commands.waitForReplication(replicas, MOMENT_MILLIS))
                .whenComplete((have, failure) -> {
                    these.forEach(written -> report(written, have, failure));
                    ask();
                });
    }

    private void report(Written written, @Nullable Long have, @Nullable Throwable failure) {
        if (failure != null) {
            written.outcome.told(new BackendUnavailableException(what("an unknown number of"), failure));
        } else if (written.epoch != node.epoch()) {
            // A new connection has written nothing yet: WAIT says nothing about what was written on the old one.
            written.outcome.told(
                    new BackendUnavailableException(what("an unknown number of") + ": the connection was lost"));
        } else if (have != null && have >= replicas) {
            written.outcome.told(null);
        } else if (clock.hasPassed(written.until)) {
            written.outcome.told(new BackendUnavailableException(what(String.valueOf(have))));
        } else {
            synchronized (this) {
                next.add(written);
            }
        }
    }

    private String what(String have) {
        return have + " of the " + replicas + " replicas that waitReplicas asks for have the lock's grant at "
                + node.endpoints();
    }
}
