// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.lease.LeaseEffect.AnnounceLoss;
import io.mortise.lock.core.lease.LeaseEffect.CompleteRelease;
import io.mortise.lock.core.lease.LeaseEffect.LogLoss;
import io.mortise.lock.core.lease.LeaseEffect.NotifyLoss;
import io.mortise.lock.core.lease.LeaseEffect.NotifyReleased;
import io.mortise.lock.core.lease.LeaseEffect.SendRelease;
import io.mortise.lock.core.lease.LeaseEvent.Loss;
import io.mortise.lock.core.lease.LeaseEvent.Plain;
import io.mortise.lock.core.lease.LeaseEvent.Release;
import io.mortise.lock.core.lease.LeaseEvent.ReleaseEnded;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The life of one lease, and what each event leads to. Pure. Whether an open lease is held also depends on its deadline, which
 * only the clock ends. See docs/protocols/core.md.
 */
sealed interface LeaseState {
    LossReason FOUND_BY_RELEASE =
            new LossReason(LossReason.Kind.REMOVED, "the store no longer had the grant when it was released");

    /** The next state, and what to do now, in this order. */
    record Step(LeaseState state, List<LeaseEffect> effects) {}

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this state
     */
    Step on(LeaseEvent event);

    /**
     * Returns the outcome of a release (S5). A missing grant means a loss, unless an earlier try may have removed it, or it ended
     * by itself after the release had begun. An earlier try would have kept it for the delay: if it is missing before then,
     * somebody else removed it, at any time.
     *
     * @param wasThere whether the store had the grant
     * @param firstTry whether no earlier try may have been executed
     * @param ended why the grant is not valid any more; null if it is, but for the release
     * @param delayOver whether the store need not keep the lock any more
     */
    static ReleaseOutcome outcome(
            boolean wasThere, boolean firstTry, LossReason.@Nullable Kind ended, boolean delayOver) {
        if (wasThere) {
            return ReleaseOutcome.RELEASED;
        }
        if (firstTry && (ended == null || ended == LossReason.Kind.REMOVED)) {
            return ReleaseOutcome.LOST;
        }
        return !firstTry && ended == null && delayOver ? ReleaseOutcome.RELEASED : ReleaseOutcome.UNKNOWN;
    }

    /** Returns whether the lease was neither released, lost nor discarded. */
    default boolean isOpen() {
        return false;
    }

    /** A lease that has not ended. */
    enum Open implements LeaseState {
        /** The store has granted the lock; the lease is not registered yet. */
        GRANTED {
            @Override
            public Step on(LeaseEvent event) {
                if (event == Plain.REGISTERED) {
                    return REGISTERED;
                }
                if (event == Plain.NOT_REGISTERED) {
                    return to(UNUSABLE, LeaseEffect.Plain.STOP_WATCHING);
                }
                if (event instanceof Loss loss) {
                    return to(new Lost(loss.reason(), false, false, true), new AnnounceLoss(loss.reason()));
                }
                return event == Plain.DISCARD
                        ? to(Discarded.DISCARDED, LeaseEffect.Plain.REMOVE_GRANT, LeaseEffect.Plain.LEAVE_CLIENT)
                        : impossible(this, event);
            }
        },

        /** The lease could not be registered. */
        UNUSABLE {
            @Override
            public Step on(LeaseEvent event) {
                if (event instanceof Loss loss) {
                    return to(new Lost(loss.reason(), false, false, false), new AnnounceLoss(loss.reason()));
                }
                if (event == Plain.DISCARD) {
                    return to(Discarded.DISCARDED, LeaseEffect.Plain.REMOVE_GRANT, LeaseEffect.Plain.LEAVE_CLIENT);
                }
                return event == Plain.AFTER_LOSS ? to(this) : impossible(this, event);
            }
        },

        /** The lease is renewed. Its observers, if there are any, do not know it yet. */
        HELD {
            @Override
            public Step on(LeaseEvent event) {
                if (event == Plain.OBSERVED) {
                    return OBSERVATION;
                }
                if (event == Plain.DISCARD) {
                    return to(
                            Discarded.DISCARDED,
                            LeaseEffect.Plain.STOP_WATCHING,
                            LeaseEffect.Plain.REMOVE_GRANT,
                            LeaseEffect.Plain.LEAVE_CLIENT);
                }
                return onHeld(event, false);
            }
        },

        /** The lease is renewed, and its observers are to be notified. */
        OBSERVED {
            @Override
            public Step on(LeaseEvent event) {
                return onHeld(event, true);
            }
        };

        private static final Step REGISTERED = new Step(HELD, List.of());
        private static final Step OBSERVATION = new Step(OBSERVED, List.of());

        @Override
        public boolean isOpen() {
            return true;
        }

        Step onHeld(LeaseEvent event, boolean observed) {
            if (event instanceof Release release) {
                return to(
                        new Releasing(release.now(), observed),
                        LeaseEffect.Plain.STOP_WATCHING,
                        new SendRelease(release.keptUntil()),
                        LeaseEffect.Plain.LEAVE_CLIENT);
            }
            if (event instanceof Loss loss) {
                return to(
                        new Lost(loss.reason(), observed, false, false),
                        LeaseEffect.Plain.STOP_WATCHING,
                        new AnnounceLoss(loss.reason()));
            }
            return event == Plain.AFTER_LOSS ? to(this) : impossible(this, event);
        }
    }

    /**
     * The lease has ended by a loss.
     *
     * @param observed whether the observers are to be notified
     * @param handled whether the loss was logged, and the removal of the grant begun
     * @param registering whether the registration is under way, so that what it does must be undone after it
     */
    record Lost(LossReason reason, boolean observed, boolean handled, boolean registering) implements LeaseState {
        @Override
        public Step on(LeaseEvent event) {
            if (event == Plain.AFTER_LOSS && !handled) {
                Lost next = new Lost(reason, observed, true, registering);
                return observed
                        ? to(
                                next,
                                new LogLoss(reason),
                                new NotifyLoss(reason),
                                LeaseEffect.Plain.REMOVE_GRANT,
                                LeaseEffect.Plain.LEAVE_CLIENT)
                        : to(next, new LogLoss(reason), LeaseEffect.Plain.REMOVE_GRANT, LeaseEffect.Plain.LEAVE_CLIENT);
            }
            if (event == Plain.OBSERVED) {
                Lost next = new Lost(reason, true, handled, registering);
                return handled ? to(next, new NotifyLoss(reason)) : to(next);
            }
            if (registering && (event == Plain.REGISTERED || event == Plain.NOT_REGISTERED)) {
                return to(new Lost(reason, observed, handled, false), LeaseEffect.Plain.STOP_WATCHING);
            }
            return unchanged(this, event);
        }
    }

    /**
     * A release is on its way.
     *
     * @param since when it was called
     * @param observed whether the observers are to be notified
     */
    record Releasing(MonotonicInstant since, boolean observed) implements LeaseState {
        @Override
        public Step on(LeaseEvent event) {
            if (event instanceof ReleaseEnded ended) {
                Released next = new Released(ended.outcome(), since);
                CompleteRelease complete = new CompleteRelease(ended.outcome());
                if (ended.outcome() == ReleaseOutcome.LOST) {
                    LeaseEffect log = new LogLoss(FOUND_BY_RELEASE);
                    return observed
                            ? to(next, log, new NotifyReleased(ended.outcome(), since), complete)
                            : to(next, log, complete);
                }
                return observed ? to(next, new NotifyReleased(ended.outcome(), since), complete) : to(next, complete);
            }
            return event == Plain.OBSERVED ? to(new Releasing(since, true)) : unchanged(this, event);
        }
    }

    /**
     * The lease has ended by a release.
     *
     * @param since when it was called
     */
    record Released(ReleaseOutcome outcome, MonotonicInstant since) implements LeaseState {
        @Override
        public Step on(LeaseEvent event) {
            if (event == Plain.OBSERVED) {
                return to(this, new NotifyReleased(outcome, since));
            }
            return event instanceof ReleaseEnded ? to(this) : unchanged(this, event);
        }
    }

    /** The lease was not delivered. */
    enum Discarded implements LeaseState {
        DISCARDED;

        @Override
        public Step on(LeaseEvent event) {
            return unchanged(this, event);
        }
    }

    /** Stays in a state in which the lease has ended: further losses, releases and discards mean nothing. */
    private static Step unchanged(LeaseState state, LeaseEvent event) {
        boolean repeated = event instanceof Loss
                || event instanceof Release
                || event == Plain.AFTER_LOSS
                || event == Plain.DISCARD;
        return repeated ? to(state) : impossible(state, event);
    }

    private static Step to(LeaseState next, LeaseEffect... effects) {
        return new Step(next, List.of(effects));
    }

    private static Step impossible(LeaseState state, LeaseEvent event) {
        throw new IllegalStateException(event + " is impossible in " + state);
    }
}
