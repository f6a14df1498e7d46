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

    private LossReason.@Nullable Kind ended; // why the validity of the grant has ended
    private boolean closed; // the client
    private boolean ownLoss; // a loss of this grant alone was reported
    private Grant grant = Grant.STORED;
    private boolean delayed; // the store is to keep the lock after our release
    private Removal removal = Removal.NONE;
    private boolean repeated; // the first try of the release had no reply
    private boolean found; // by the release that was executed
    private boolean bound; // the time of the release runs

    private int announced;
    private @Nullable ReleaseOutcome outcome;
    private boolean toldGranted;
    private int toldEnd;
    private Optional<String> broken = Optional.empty();

    /** The scope of an exploration; the functions are those of production, or one of them has a defect. */
    record Scope(
            Set<Option> options, BiFunction<LeaseState, LeaseEvent, LeaseState.Step> machine, OutcomeRule outcome) {
        static Scope of(Option... options) {
            return new Scope(Set.of(options), LeaseState::on, LeaseState::outcome);
        }

        Scope with(BiFunction<LeaseState, LeaseEvent, LeaseState.Step> other) {
            return new Scope(options, other, outcome);
        }

        Scope with(OutcomeRule other) {
            return new Scope(options, machine, other);
        }

        Scope withoutDefect() {
            return of(options.toArray(Option[]::new));
        }

        @Override
        public String toString() {
            return new TreeSet<>(options).toString();
        }
    }

    /** A function with the parameters of {@link LeaseState#outcome}. */
    interface OutcomeRule {
        ReleaseOutcome of(boolean wasThere, boolean firstTry, LossReason.@Nullable Kind ended, boolean delayOver);
    }

    /** An event that may happen besides a grant and its release. */
    enum Option {
        /** The lease is observed; an observer may release it as soon as it hears of the grant. */
        OBSERVED,
        /** The acquire operation has ended before the grant, so that the lease is not delivered. */
        NOT_DELIVERED,
        /** The deadline of the grant passes. Then the store may drop it, but need not: a late renewal may have extended it. */
        VALIDITY_LOST,
        /** The backend reports the loss of this grant alone. */
        GRANT_LOST,
        /** The client closes. */
        CLOSE,
        /** The application releases the lease twice. */
        SECOND_RELEASE,
        /** A release has no reply in time, or its first try fails. */
        SLOW_RELEASE,
        /** An operator removes the grant. A renewal may find it missing, as it may after our release. */
        FORCED_RELEASE,
        /** The store is to keep the lock for a while after the release. */
        DELAYED_RELEASE
    }

    /** The grant in the store. */
    enum Grant {
        STORED,
        /** Our release was executed; the store keeps the lock. */
        KEPT,
        /** It was removed by us. */
        ENDED,
        /** It was removed by an operator. */
        REMOVED,
        EXPIRED
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
        RELEASE_EXECUTED,
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
        ended = before.ended;
        closed = before.closed;
        ownLoss = before.ownLoss;
        grant = before.grant;
        delayed = before.delayed;
        removal = before.removal;
        repeated = before.repeated;
        found = before.found;
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
        if (has(Option.VALIDITY_LOST) && ended == null) {
            steps.add(() -> "the deadline passes", Kind.OPTIONAL, next -> next.end(LossReason.Kind.EXPIRED));
        }
        if (ended == LossReason.Kind.EXPIRED && grant == Grant.STORED) {
            steps.add(() -> "the store drops the expired grant", Kind.OPTIONAL, next -> next.grant = Grant.EXPIRED);
        }
        if (has(Option.GRANT_LOST) && !ownLoss) {
            steps.add(() -> "the backend reports the loss of the grant", Kind.OPTIONAL, next -> {
                next.ownLoss = true;
                next.later(loss(LossReason.Kind.REMOVED), Plain.AFTER_LOSS);
            });
        }
        if (has(Option.CLOSE) && !closed) {
            steps.add(() -> "the client closes", Kind.OPTIONAL, next -> {
                next.closed = true;
                if (next.known) {
                    next.later(loss(LossReason.Kind.CLIENT_CLOSED), Plain.AFTER_LOSS);
                }
            });
        }
        if (releases > 0 && delivered) {
            steps.progress(() -> "the application releases", LeaseWorld::release);
        }
        if (releases > 0 && toldGranted && !delivered) {
            steps.add(() -> "an observer releases", Kind.OPTIONAL, LeaseWorld::release);
        }
        stepsOfOperator(steps);
        stepsOfRemoval(steps);
        return steps.all();
    }

    private void stepsOfOperator(Steps<LeaseWorld, LeaseWorld, Option> steps) {
        if (has(Option.FORCED_RELEASE) && grant == Grant.STORED) {
            steps.add(() -> "an operator removes the grant", Kind.OPTIONAL, next -> next.grant = Grant.REMOVED);
        }
        if (has(Option.FORCED_RELEASE) && grant == Grant.KEPT) {
            steps.add(() -> "an operator frees the kept lock", Kind.OPTIONAL, next -> next.grant = Grant.ENDED);
        }
        if (has(Option.FORCED_RELEASE) && grant != Grant.STORED && ended == null && outcome == null) {
            steps.add(() -> "a renewal finds no grant", Kind.OPTIONAL, next -> next.end(LossReason.Kind.REMOVED));
        }
    }

    private void stepsOfRemoval(Steps<LeaseWorld, LeaseWorld, Option> steps) {
        if (removal == Removal.SENT) {
            steps.progress(() -> "the grant is removed", next -> next.execute(Removal.DONE));
        }
        if (removal == Removal.RELEASE_SENT) {
            steps.progress(() -> "the store executes the release", next -> next.execute(Removal.RELEASE_EXECUTED));
        }
        if (removal == Removal.RELEASE_EXECUTED) {
            steps.progress(() -> "the release has a reply", next -> {
                next.later(new LeaseEvent.ReleaseEnded(
                        scope.outcome.of(next.found, !next.repeated, next.ended, !next.delayed)));
                next.removal = Removal.DONE;
                next.found = false;
            });
        }
        if ((removal == Removal.RELEASE_SENT || removal == Removal.RELEASE_EXECUTED)
                && !repeated
                && has(Option.SLOW_RELEASE)) {
            steps.add(() -> "the first try, or its reply, is lost", Kind.OPTIONAL, next -> {
                next.repeated = true;
                next.removal = Removal.RELEASE_SENT;
            });
        }
        if (delayed) {
            steps.progress(() -> "the delay of the release has passed", next -> {
                next.delayed = false;
                next.grant = next.grant == Grant.KEPT ? Grant.ENDED : next.grant;
            });
        }
        if (bound && has(Option.SLOW_RELEASE)) {
            steps.add(() -> "the time of the release has passed", Kind.OPTIONAL, next -> {
                next.bound = false;
                next.later(new LeaseEvent.ReleaseEnded(ReleaseOutcome.UNKNOWN));
            });
        }
    }

    /** The validity of the grant ends. */
    private void end(LossReason.Kind why) {
        ended = why;
        if (attached) {
            attached = false;
            later(loss(why), Plain.AFTER_LOSS);
        }
    }

    private static LeaseEvent loss(LossReason.Kind kind) {
        return new LeaseEvent.Loss(new LossReason(kind, "test"));
    }

    private void execute(Removal then) {
        removal = then;
        found = grant == Grant.STORED || grant == Grant.KEPT;
        if (found) {
            grant = delayed ? Grant.KEPT : Grant.ENDED;
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
                renewed = ended == null;
                core = Progress.RENEWED;
            }
            case RENEWED -> {
                attached = !stopped && renewed && ended == null;
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
        if (ended == null) {
            later(release);
        } else { // the application comes before whoever announces the loss
            later(loss(ended), Plain.AFTER_LOSS, release);
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
            known = false;
            left = true;
        } else if (effect instanceof LeaseEffect.SendRelease) {
            bound = true;
            delayed = has(Option.DELAYED_RELEASE);
            send(Removal.RELEASE_SENT);
        } else if (effect instanceof LeaseEffect.CompleteRelease complete) {
            if (!isTrue(complete.outcome())) {
                broken = Optional.of(
                        "S05: the outcome of the release is " + complete.outcome() + ", but the grant is " + grant);
            }
            complete(complete.outcome());
        } else if (effect instanceof LeaseEffect.AnnounceLoss) {
            announced++;
            if (removal == Removal.RELEASE_SENT || removal == Removal.RELEASE_EXECUTED) {
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
        } else if (left) {
            broken = Optional.of("S16: a close does not wait for the removal of the grant");
        }
        removal = how;
    }

    /**
     * Returns whether the outcome of a release is what happened in the store, or nobody can know that. "Released" may be a guess: if
     * the first try was lost, an operator may have been faster than the second.
     */
    private boolean isTrue(ReleaseOutcome decided) {
        return switch (decided) {
            case RELEASED ->
                grant == Grant.KEPT || grant == Grant.ENDED || (grant == Grant.REMOVED && repeated && !delayed);
            case LOST -> grant == Grant.REMOVED;
            case UNKNOWN ->
                !bound
                        || (repeated && has(Option.DELAYED_RELEASE))
                        || (ended != null && (repeated || ended != LossReason.Kind.REMOVED));
        };
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
        if (removal != Removal.DONE || grant == Grant.STORED) {
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
                && removal != Removal.RELEASE_EXECUTED;
    }

    @Override
    public List<String> situations() {
        Set<String> present = new TreeSet<>();
        present.add(World.name(state));
        if (state instanceof LeaseState.Lost lost) {
            present.add("lost: " + lost.reason().kind());
            if (ownLoss && ended == null && lost.reason().kind() == LossReason.Kind.REMOVED) {
                present.add("lost alone");
            }
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
        if (outcome == ReleaseOutcome.UNKNOWN && bound && !repeated) {
            present.add("overtaken by the deadline");
        }
        if (ended == LossReason.Kind.REMOVED) {
            present.add("found missing");
        }
        if (state == LeaseState.Discarded.DISCARDED && ended == null && !closed) {
            present.add("discarded while it is valid");
        }
        if (grant == Grant.KEPT) {
            present.add("kept for a delay");
        }
        if (repeated) {
            present.add("the release is repeated");
        }
        if (has(Option.SECOND_RELEASE) && releases == 0) {
            present.add("released twice");
        }
        return List.copyOf(present);
    }

    // ---- the key

    @Override
    public void describe(StateKey key) {
        key.value(state instanceof Enum<?> ? state : state.getClass());
        if (state instanceof LeaseState.Lost lost) {
            key.flags(lost.observed(), lost.handled(), lost.registering());
            key.value(lost.reason().kind());
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
                .value(outcome)
                .value(ended)
                .value(grant);
        key.flags(delivered, known, left, renewed, attached, stopped, closed, ownLoss, bound, toldGranted);
        key.flags(delayed, repeated, found);
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
            } else if (event instanceof LeaseEvent.Loss loss) {
                into.value(loss.reason().kind());
            }
        });
    }
}
