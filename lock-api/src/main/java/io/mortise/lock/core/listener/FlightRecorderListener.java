// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Locale;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Records waits, holds, renewals and losses as events of JDK Flight Recorder. It observes the acquires that start while a
 * recording runs, and their leases, so it costs nothing otherwise.
 */
final class FlightRecorderListener implements LockListener {
    FlightRecorderListener() {
        FlightRecorder.isInitialized(); // fails if this runtime has no flight recorder
    }

    @Override
    public @Nullable AcquireObserver acquireStarted(String backend, String lockName) {
        return isRecording() ? new EventRecorder(backend, lockName, Thread.currentThread()) : null;
    }

    /** Returns whether a recording runs with one of the events. The first check keeps their classes from being loaded. */
    private static boolean isRecording() {
        return FlightRecorder.isInitialized()
                && (new LockWaitEvent().isEnabled()
                        || new LockHoldEvent().isEnabled()
                        || new LeaseLossEvent().isEnabled()
                        || new LeaseRenewalEvent().isEnabled());
    }

    /** Records the events of one acquire and of its lease. */
    private static final class EventRecorder implements AcquireObserver, LeaseObserver {
        private final String backend;
        private final String lockName;
        private final Thread acquirer;
        private @Nullable LockWaitEvent wait;
        private @Nullable LockHoldEvent hold;
        private long token = LockEvent.NO_TOKEN;

        EventRecorder(String backend, String lockName, Thread acquirer) {
            this.backend = backend;
            this.lockName = lockName;
            this.acquirer = acquirer;
        }

        @Override
        public void waiting() {
            wait = new LockWaitEvent();
            wait.begin();
        }

        @Override
        public LeaseObserver granted(Lease lease) {
            token = tokenOf(lease);
            endWait("granted");
            hold = new LockHoldEvent();
            hold.begin();
            return this;
        }

        @Override
        public void busy() {
            endWait("busy");
        }

        @Override
        public void withdrawn() {
            endWait("withdrawn");
        }

        @Override
        public void failed(LockException failure) {
            endWait("failed");
        }

        private void endWait(String outcome) {
            LockWaitEvent event = wait;
            wait = null;
            if (event != null) {
                event.end();
                if (event.shouldCommit()) {
                    event.acquirer = acquirer;
                    event.outcome = outcome;
                    commit(event);
                }
            }
        }

        @Override
        public void renewed(Duration slack, Duration leaseDuration) {
            LeaseRenewalEvent event = new LeaseRenewalEvent();
            if (event.isEnabled()) {
                event.slack = slack.toNanos();
                event.leaseDuration = leaseDuration.toNanos();
                commit(event);
            }
        }

        @Override
        public void lost(LossReason reason, Duration held) {
            endHold("lost");
            LeaseLossEvent event = new LeaseLossEvent();
            if (event.isEnabled()) {
                event.reason = reason.kind().name().toLowerCase(Locale.ROOT);
                event.detail = reason.detail();
                commit(event);
            }
        }

        @Override
        public void released(ReleaseOutcome outcome, Duration held) {
            endHold(outcome.name().toLowerCase(Locale.ROOT));
        }

        private void endHold(String outcome) {
            LockHoldEvent event = hold;
            hold = null;
            if (event != null) {
                event.end();
                if (event.shouldCommit()) {
                    event.outcome = outcome;
                    commit(event);
                }
            }
        }

        private void commit(LockEvent event) {
            event.lock = lockName;
            event.backend = backend;
            event.token = token;
            event.commit();
        }

        private static long tokenOf(Lease lease) {
            try {
                return lease.fencingToken();
            } catch (UnsupportedOperationException e) { // a backend without fencing tokens
                return LockEvent.NO_TOKEN;
            }
        }
    }
}
