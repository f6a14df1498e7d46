// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.lease.LeaseEvent.Plain;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * One lease, from its grant to its end, with the core, the application, the observers and the store, at one moment. The state
 * machine is that of production; what performs its effects is modelled. Each effect is a step of its own, so that the effects of
 * several threads interleave as they may in production.
 */
final class LeaseWorld implements World<LeaseWorld> {
    private static final MonotonicInstant NOW = new MonotonicInstant(0);
    private static final LossReason LOSS = new LossReason(LossReason.Kind.REMOVED, "test");

    private final Scope scope;
    private LeaseState state = LeaseState.Open.GRANTED;
    private final List<Task> tasks;
    private Progress core = Progress.GRANTED;
    private boolean delivered;
    private int releases; // calls of the application that are left

    // what the lease is registered with
    private boolean known; // to the client
    private boolean left; // the client
    private boolean renewed;
    private boolean attached; // to the validity of the grant
    private boolean stopped;

    private boolean valid = true; // the validity of the grant
    private boolean closed; // the client
    private boolean ownLoss; // a loss of this grant alone was reported
    private boolean stored = true;
    private Removal removal = Removal.NONE;
    private boolean bound; // the time of the release runs

    private int announced;
    private @Nullable ReleaseOutcome outcome;
    private boolean toldGranted;
    private int toldEnd;
    private Optional<String> broken = Optional.empty();

    /** The scope of an exploration; the machine is that of production, or one with a defect. */
    record Scope(Set<Option> options, BiFunction<LeaseState, LeaseEvent, LeaseState.Step> machine) {
        private static final BiFunction<LeaseState, LeaseEvent, LeaseState.Step> PRODUCTION = LeaseState::on;

        static Scope of(Option... options) {
            return new Scope(Set.of(options), PRODUCTION);
        }

        Scope with(BiFunction<LeaseState, LeaseEvent, LeaseState.Step> other) {
            return new Scope(options, other);
        }

        Scope withoutDefect() {
            return with(PRODUCTION);
        }

        @Override
        public String toString() {
            return new TreeSet<>(options).toString();
        }
    }

    /** An event that may happen besides a grant and its release. */
    enum Option {
        /** The lease is observed; an observer may release it as soon as it hears of the grant. */
        OBSERVED,
        /** The acquire operation has ended before the grant, so that the lease is not delivered. */
        NOT_DELIVERED,
        /** The validity of the grant ends: by its deadline, or with its session. */
        VALIDITY_LOST,
        /** The backend reports the loss of this grant alone. */
        GRANT_LOST,
        /** The client closes. */
        CLOSE,
        /** The application releases the lease twice. */
        SECOND_RELEASE,
        /** A release has no reply in time, or its first try fails. */
        SLOW_RELEASE,
        /** An operator removes the grant, and nobody notices. */
        FORCED_RELEASE
    }

    /** The steps of the core with the lease, in their order. */
    enum Progress {
        GRANTED,
        KNOWN,
        RENEWED,
        ATTACHED,
        REGISTERED,
        TOLD,
        DONE
    }

    /** The removal of the grant from the store. */
    enum Removal {
        NONE,
        /** It is on its way, and nobody waits for its outcome. */
        SENT,
        RELEASE_SENT,
        RELEASE_REPEATED,
        DONE
    }

    /** The work that a thread still has: to bring events, one after the other, or perform effects first. */
    private record Task(List<LeaseEffect> effects, List<LeaseEvent> events) {
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(40);
            effects.forEach(effect -> text.append(World.name(effect)).append(' '));
            text.append('/');
            events.forEach(event -> text.append(World.name(event)).append(' '));
            return text.toString();
        }
    }

    LeaseWorld(Scope scope) {
        this.scope = scope;
        this.tasks = new ArrayList<>();
        this.releases = scope.options.contains(Option.SECOND_RELEASE) ? 2 : 1;
    }

    private LeaseWorld(LeaseWorld before) {
        scope = before.scope;
        state = before.state;
        tasks = new ArrayList<>(before.tasks);
        core = before.core;
        delivered = before.delivered;
        releases = before.releases;
        known = before.known;
        left = before.left;
        renewed = before.renewed;
        attached = before.attached;
        stopped = before.stopped;
        valid = before.valid;
        closed = before.closed;
        ownLoss = before.ownLoss;
        stored = before.stored;
        removal = before.removal;
        bound = before.bound;
        announced = before.announced;
        outcome = before.outcome;
        toldGranted = before.toldGranted;
        toldEnd = before.toldEnd;
    }

    private boolean has(Option option) {
        return scope.options.contains(option);
    }

    // ---- steps

    @Override
    public List<Step<LeaseWorld>> steps() {
        Steps<LeaseWorld, LeaseWorld, Option> steps =
                new Steps<>(new FaultBudget<Option>(0, Set.of()), () -> new LeaseWorld(this), next -> {}, next -> next);
        for (Task task : tasks) {
            steps.progress(() -> "thread: " + task, next -> next.run(task));
        }
        if (core != Progress.DONE) {
            steps.progress(() -> "the core goes on after " + core, LeaseWorld::goOn);
        }
        if (has(Option.VALIDITY_LOST) && valid) {
            steps.add(() -> "the validity of the grant ends", Kind.OPTIONAL, next -> {
                next.valid = false;
                if (next.attached) {
                    next.attached = false;
                    next.later(new LeaseEvent.Loss(LOSS), Plain.AFTER_LOSS);
                }
            });
        }
        if (has(Option.GRANT_LOST) && !ownLoss) {
            steps.add(() -> "the backend reports the loss of the grant", Kind.OPTIONAL, next -> {
                next.ownLoss = true;
                next.later(new LeaseEvent.Loss(LOSS), Plain.AFTER_LOSS);
            });
        }
        if (has(Option.CLOSE) && !closed) {
            steps.add(() -> "the client closes", Kind.OPTIONAL, next -> {
                next.closed = true;
                if (next.known) {
                    next.later(new LeaseEvent.Loss(LOSS), Plain.AFTER_LOSS);
                }
            });
        }
        if (releases > 0 && delivered) {
            steps.progress(() -> "the application releases", LeaseWorld::release);
        }
        if (releases > 0 && toldGranted && !delivered) {
            steps.add(() -> "an observer releases", Kind.OPTIONAL, LeaseWorld::release);
        }
        if (has(Option.FORCED_RELEASE) && stored) {
            steps.add(() -> "an operator removes the grant", Kind.OPTIONAL, next -> next.stored = false);
        }
        stepsOfRemoval(steps);
        return steps.all();
    }

    private void stepsOfRemoval(Steps<LeaseWorld, LeaseWorld, Option> steps) {
        if (removal == Removal.SENT) {
            steps.progress(() -> "the grant is removed", next -> {
                next.removal = Removal.DONE;
                next.stored = false;
            });
        }
        if (removal == Removal.RELEASE_SENT || removal == Removal.RELEASE_REPEATED) {
            steps.progress(() -> "the release has a reply", next -> {
                boolean first = next.removal == Removal.RELEASE_SENT;
                next.later(new LeaseEvent.ReleaseEnded(
                        LeaseState.outcome(next.stored, first, next.valid ? null : LossReason.Kind.EXPIRED, true)));
                next.removal = Removal.DONE;
                next.stored = false;
            });
        }
        if (removal == Removal.RELEASE_SENT && has(Option.SLOW_RELEASE)) {
            steps.add(() -> "the reply to the first try is lost", Kind.OPTIONAL, next -> {
                next.removal = Removal.RELEASE_REPEATED;
                next.stored = false;
            });
            steps.add(() -> "the first try is lost", Kind.OPTIONAL, next -> next.removal = Removal.RELEASE_REPEATED);
        }
        if (bound && has(Option.SLOW_RELEASE)) {
            steps.add(() -> "the time of the release has passed", Kind.OPTIONAL, next -> {
                next.bound = false;
                next.later(new LeaseEvent.ReleaseEnded(ReleaseOutcome.UNKNOWN));
            });
        }
    }

    private void later(LeaseEvent... events) {
        tasks.add(new Task(List.of(), List.of(events)));
    }

    private void run(Task task) {
        tasks.remove(task);
        List<LeaseEffect> effects = task.effects;
        List<LeaseEvent> events = task.events;
        if (effects.isEmpty()) {
            effects = bring(events.get(0));
            events = events.subList(1, events.size());
        } else {
            perform(effects.get(0));
            effects = effects.subList(1, effects.size());
        }
        if (!effects.isEmpty() || !events.isEmpty()) {
            tasks.add(new Task(effects, events));
        }
    }

    private List<LeaseEffect> bring(LeaseEvent event) {
        LeaseState.Step step = scope.machine.apply(state, event);
        state = step.state();
        return step.effects();
    }

    private void bringAndPerform(LeaseEvent event) {
        List<LeaseEffect> effects = bring(event);
        if (!effects.isEmpty()) {
            tasks.add(new Task(effects, List.of()));
        }
    }

    /** Takes the next step of {@code HeldLease.begin}, and of what the acquire operation does with the lease. */
    private void goOn() {
        switch (core) {
            case GRANTED -> {
                known = !left;
                core = Progress.KNOWN;
                if (closed) {
                    stopped = true; // that is: not usable
                }
            }
            case KNOWN -> {
                renewed = valid;
                core = Progress.RENEWED;
            }
            case RENEWED -> {
                attached = !stopped && renewed && valid;
                core = Progress.ATTACHED;
                if (!attached) {
                    stopped = true;
                }
            }
            case ATTACHED -> {
                boolean usable = !stopped;
                stopped = false;
                bringAndPerform(usable ? Plain.REGISTERED : Plain.NOT_REGISTERED);
                boolean begun = state == LeaseState.Open.HELD;
                core = begun && !has(Option.NOT_DELIVERED) ? Progress.REGISTERED : Progress.DONE;
                if (core == Progress.DONE) {
                    later(Plain.DISCARD);
                }
            }
            case REGISTERED -> {
                toldGranted = has(Option.OBSERVED);
                core = toldGranted ? Progress.TOLD : Progress.DONE;
                delivered = !toldGranted;
            }
            case TOLD -> {
                bringAndPerform(Plain.OBSERVED);
                core = Progress.DONE;
                delivered = true;
            }
            default -> throw new IllegalStateException("the core is done");
        }
    }

    private void release() {
        releases--;
        LeaseEvent release = new LeaseEvent.Release(NOW, NOW);
        if (valid) {
            later(release);
        } else { // the application comes before whoever announces the loss
            later(new LeaseEvent.Loss(LOSS), Plain.AFTER_LOSS, release);
        }
    }

    private void perform(LeaseEffect effect) {
        if (effect == LeaseEffect.Plain.STOP_WATCHING) {
            if (stopped) {
                broken = Optional.of("S17: the renewals of the lease are ended twice");
            }
            stopped = true;
            renewed = false;
            attached = false;
        } else if (effect == LeaseEffect.Plain.REMOVE_GRANT) {
            send(Removal.SENT);
        } else if (effect == LeaseEffect.Plain.LEAVE_CLIENT) {
            if (removal == Removal.NONE) {
                broken = Optional.of("S16: a close does not wait for the removal of the grant");
            }
            known = false;
            left = true;
        } else if (effect instanceof LeaseEffect.SendRelease) {
            bound = true;
            send(Removal.RELEASE_SENT);
        } else if (effect instanceof LeaseEffect.CompleteRelease complete) {
            complete(complete.outcome());
        } else if (effect instanceof LeaseEffect.AnnounceLoss) {
            announced++;
            if (removal == Removal.RELEASE_SENT || removal == Removal.RELEASE_REPEATED) {
                broken = Optional.of("S07: a loss is announced after a release");
            }
            complete(ReleaseOutcome.LOST);
        } else if (effect instanceof LeaseEffect.NotifyLoss || effect instanceof LeaseEffect.NotifyReleased) {
            toldEnd++;
            if (!toldGranted) {
                broken = Optional.of("S07: observers hear of an end before they hear of the grant");
            }
        }
    }

    private void send(Removal how) {
        if (removal != Removal.NONE) {
            broken = Optional.of("S08: the grant is removed twice");
        }
        removal = how;
    }

    private void complete(ReleaseOutcome decided) {
        if (outcome != null) {
            broken = Optional.of("S05: the release has two outcomes, " + outcome + " and " + decided);
        }
        outcome = decided;
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        boolean held = state == LeaseState.Open.HELD || state == LeaseState.Open.OBSERVED;
        if (held && (!renewed || stopped)) {
            return Optional.of("S02: the lease is held, and is not renewed");
        }
        if (announced > 1) {
            return Optional.of("S07: the loss is announced " + announced + " times");
        }
        if (toldEnd > 1) {
            return Optional.of("S07: observers hear of the end " + toldEnd + " times");
        }
        return isFinal() ? leftovers() : Optional.empty();
    }

    private Optional<String> leftovers() {
        if (removal != Removal.DONE || stored) {
            return Optional.of("S08: the lease has ended, and its grant was not removed");
        }
        if (known || renewed || attached) {
            return Optional.of("S17: the lease has ended, and is still renewed or known to the client");
        }
        if (toldGranted && toldEnd == 0) {
            return Optional.of("S07: observers hear of no end");
        }
        if (delivered && outcome == null) {
            return Optional.of("S05: the release has no outcome");
        }
        return Optional.empty();
    }

    @Override
    public boolean isFinal() {
        return tasks.isEmpty()
                && core == Progress.DONE
                && !state.isOpen()
                && removal != Removal.SENT
                && removal != Removal.RELEASE_SENT
                && removal != Removal.RELEASE_REPEATED;
    }

    @Override
    public List<String> situations() {
        Set<String> present = new TreeSet<>();
        present.add(World.name(state));
        if (state instanceof LeaseState.Lost lost) {
            if (lost.registering()) {
                present.add("lost while it is registered");
            }
            if (toldGranted && !lost.observed()) {
                present.add("lost before it is observed");
            }
        }
        if (toldGranted && state instanceof LeaseState.Releasing releasing && !releasing.observed()) {
            present.add("released before it is observed");
        }
        if (outcome != null) {
            present.add(outcome.name());
        }
        return List.copyOf(present);
    }

    // ---- the key

    @Override
    public void describe(StateKey key) {
        key.value(state instanceof Enum<?> ? state : state.getClass());
        if (state instanceof LeaseState.Lost lost) {
            key.flags(lost.observed(), lost.handled(), lost.registering());
        } else if (state instanceof LeaseState.Releasing releasing) {
            key.flags(releasing.observed());
        } else if (state instanceof LeaseState.Released released) {
            key.value(released.outcome());
        }
        key.value(core)
                .value(removal)
                .number(releases)
                .number(announced)
                .number(toldEnd)
                .value(outcome);
        key.flags(
                delivered, known, left, renewed, attached, stopped, valid, closed, ownLoss, stored, bound, toldGranted);
        key.unordered(tasks, LeaseWorld::describe);
    }

    private static void describe(StateKey key, Task task) {
        key.value("\nthread").list(task.effects, (into, effect) -> {
            into.value(World.name(effect));
            if (effect instanceof LeaseEffect.CompleteRelease complete) {
                into.value(complete.outcome());
            }
        });
        key.list(task.events, (into, event) -> {
            into.value(World.name(event));
            if (event instanceof LeaseEvent.ReleaseEnded ended) {
                into.value(ended.outcome());
            }
        });
    }
}
