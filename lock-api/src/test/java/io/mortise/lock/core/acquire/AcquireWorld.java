// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Acquire operations of one client for one lock, their client, and a store that keeps to the contract of the SPI, at one moment.
 * The state machine of an operation is that of production; what performs its effects is modelled. Threads are tasks. With one
 * operation each effect is a step of its own, so that the effects of several events interleave as they may in production; with
 * several operations a thread performs the effects of an event in one step.
 *
 * <p>Whether a time has passed is a choice: all instants are equal, but for those in an outage, which are later.
 */
final class AcquireWorld implements World<AcquireWorld> {
    private static final MonotonicInstant NOW =
            new MonotonicInstant(Duration.ofHours(1).toNanos());
    static final MonotonicInstant IN_OUTAGE = NOW.plus(Duration.ofHours(1));
    private static final StoreContact HEALTHY = new StoreContact(NOW, null);
    static final StoreContact SILENT = new StoreContact(NOW, NOW);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final LockException NO_REPLY = new BackendUnavailableException("no reply");

    @SuppressWarnings("StaticAssignmentOfThrowable")
    private static final LockException REFUSED = new BackendRefusedException("refused", null);

    private final Scope scope;
    private final List<Operation> operations = new ArrayList<>();
    private List<Integer> queue = List.of(); // of this process
    private final List<Task> tasks;
    /** The holder of the lock: an operation, or somebody else. */
    private int holder = NOBODY;

    private Closing closing = Closing.OPEN;
    private boolean silent; // the store, for long
    private FaultBudget<Fault> faults;
    private Optional<String> broken = Optional.empty();

    /** The most threads that are at work for one operation at a time. */
    private static final int MOST_THREADS = 2;

    private static final int NOBODY = -1;
    private static final int ANOTHER = -2;
    private static final int ORPHAN = -3;

    /**
     * The scope of an exploration; the machine is that of production, or one with a defect.
     *
     * @param missing what the shell around it does not do, by a defect
     */
    record Scope(
            int operations,
            Set<Option> options,
            int faults,
            Set<Fault> possible,
            BiFunction<AcquireState, AcquireEvent, AcquireState.Step> machine,
            Set<ShellCheck> missing) {
        private static final BiFunction<AcquireState, AcquireEvent, AcquireState.Step> PRODUCTION = AcquireState::on;

        static Scope of(int operations, Option... options) {
            return new Scope(operations, Set.of(options), 0, Set.of(), PRODUCTION, Set.of());
        }

        Scope faults(int most, Fault... kinds) {
            return new Scope(operations, options, most, Set.of(kinds), machine, missing);
        }

        Scope with(BiFunction<AcquireState, AcquireEvent, AcquireState.Step> other) {
            return new Scope(operations, options, faults, possible, other, missing);
        }

        Scope without(ShellCheck check) {
            return new Scope(operations, options, faults, possible, machine, Set.of(check));
        }

        Scope withoutDefect() {
            return new Scope(operations, options, faults, possible, PRODUCTION, Set.of());
        }

        @Override
        public String toString() {
            return operations + " " + new TreeSet<>(options) + " " + faults + " of " + new TreeSet<>(possible);
        }
    }

    /** An event that may happen besides faults. */
    enum Option {
        /** The store keeps no queue: operations wait in the local queue. */
        LOCAL_QUEUE,
        /** Another client holds the lock at first. */
        HELD,
        /** Callers may give up. */
        WITHDRAWAL,
        /** The wait has a limit. */
        LIMIT,
        /** The wait of the first operation has a limit, and no other. */
        LIMIT_OF_FIRST,
        /** Operations make one attempt. */
        SINGLE_ATTEMPT,
        /** The client may close. */
        CLOSE
    }

    /** Something that the shell around the machine checks before an event or an effect. */
    enum ShellCheck {
        /** An attempt is sent only if its operation has not ended since it was decided. */
        OPEN_AT_ATTEMPT,
        /** A result counts only if the close has not begun. */
        CLOSE_AT_RESULT
    }

    /** A kind of fault, which may happen once for each fault that is left. */
    enum Fault {
        /** An attempt has no reply; the store may have executed it. */
        NO_REPLY,
        /** The same, and an outage has lasted too long. */
        OUTAGE,
        /** The store refuses an attempt. */
        REFUSED,
        /** A contender cannot be created. */
        NOT_ENQUEUED,
        /** The queue entry or the grant of a contender is deleted. */
        DISPLACED,
        /** A grant has ended when its reply arrives. */
        GRANT_ENDED,
        /** A hint comes for no reason, or for a contender that was replaced. */
        SPURIOUS_HINT,
        /** A timer that was cancelled fires. */
        LATE_TIMER
    }

    /** The progress of the close of the client. */
    enum Closing {
        OPEN,
        BEGUN,
        WAITERS_TOLD,
        HOLDERS_TOLD
    }

    /** The state of a contender in the store. */
    enum Stored {
        NOTHING,
        ENTRY,
        GRANT
    }

    /** The call on a contender that has no result. */
    enum Call {
        NONE,
        SENT,
        EXECUTED_BUSY,
        EXECUTED_GRANTED
    }

    /** The lease of an operation. */
    enum LeaseModel {
        NONE,
        BEGUN,
        DELIVERED,
        ENDED
    }

    /** The work that a thread still has: to bring an event, or perform effects, and then set the timers. */
    private record Task(int operation, @Nullable AcquireEvent event, List<AcquireEffect> effects) {
        /** Returns whether its next effect creates a contender. */
        boolean enqueues(int present) {
            return !effects.isEmpty()
                    && effects.get(0) instanceof AcquireEffect.Attempt attempt
                    && attempt.contender() != present;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(40).append(operation).append(':');
            if (event != null) {
                text.append(World.name(event));
                if (event instanceof AcquireEvent.FirstInQueue first && first.storeSilent()) {
                    text.append(" behind a failure");
                }
                if (SILENT.equals(contact(event))) {
                    text.append(" in an outage");
                }
            } else if (effects.isEmpty()) {
                text.append("sets its timers");
            } else {
                effects.forEach(effect -> describe(effect, text));
            }
            return text.toString();
        }
    }

    /** One operation, and its present contender. */
    private static final class Operation implements Cloneable {
        AcquireState state;
        boolean started;
        boolean registered;
        boolean toldOfClose;
        int outcomes;

        @Nullable
        String outcome; // for the situations alone

        int enqueued; // the number of the contender that exists
        Call call = Call.NONE;
        Stored stored = Stored.NOTHING;
        boolean orphan; // the store has a grant of an earlier contender
        boolean removing;
        boolean removed;
        boolean grantEnded; // was its latest result, and no other operation can free the lock
        boolean hinted; // a hint for the present contender is on its way
        boolean timer; // for the next attempt
        boolean deadline;
        LeaseModel lease = LeaseModel.NONE;

        Operation(AcquireState state) {
            this.state = state;
        }

        Operation copy() {
            try {
                return (Operation) clone();
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    AcquireWorld(Scope scope) {
        this.scope = scope;
        this.tasks = new ArrayList<>();
        for (int i = 0; i < scope.operations; i++) {
            boolean limited = has(Option.LIMIT) || (has(Option.LIMIT_OF_FIRST) && i == 0);
            Option limit = limited ? Option.LIMIT : Option.WITHDRAWAL;
            operations.add(new Operation(
                    AcquireState.initial(policy(has(Option.SINGLE_ATTEMPT) ? Option.SINGLE_ATTEMPT : limit))));
        }
        holder = scope.options.contains(Option.HELD) ? ANOTHER : NOBODY;
        faults = new FaultBudget<>(scope.faults, scope.possible);
    }

    /** Returns the policy of an operation with a limit, of one that makes a single attempt, or of one without a limit. */
    static WaitPolicy policy(Option limit) {
        Duration maxWait = limit == Option.SINGLE_ATTEMPT ? Duration.ZERO : Duration.ofDays(1);
        return new WaitPolicy(
                limit == Option.LIMIT || limit == Option.SINGLE_ATTEMPT ? maxWait : null,
                Duration.ofSeconds(5),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30),
                NOW);
    }

    /** Returns all events, with the data that make a difference. */
    static List<AcquireEvent> events(int contender) {
        List<AcquireEvent> events = new ArrayList<>(List.of(AcquireEvent.Plain.values()));
        events.add(new AcquireEvent.JoinedAsFirst(NOW));
        events.add(new AcquireEvent.FirstInQueue(false, NOW, HEALTHY));
        events.add(new AcquireEvent.FirstInQueue(true, IN_OUTAGE, SILENT));
        events.add(new AcquireEvent.StoreSilent(NOW, HEALTHY));
        events.add(new AcquireEvent.StoreSilent(IN_OUTAGE, SILENT));
        events.add(new AcquireEvent.Hint(contender, NOW));
        events.add(new AcquireEvent.LockFreed(NOW));
        events.add(new AcquireEvent.RetryDue(NOW));
        events.add(new AcquireEvent.DeadlineReached(false, NOW, HEALTHY));
        events.add(new AcquireEvent.TimerFailed(REFUSED));
        events.add(new AcquireEvent.Busy(Duration.ZERO, NOW, 0));
        events.add(new AcquireEvent.Failed(NO_REPLY, NOW, HEALTHY, 0));
        events.add(new AcquireEvent.Failed(NO_REPLY, IN_OUTAGE, SILENT, 0));
        events.add(new AcquireEvent.Failed(REFUSED, NOW, HEALTHY, 0));
        events.add(new AcquireEvent.Displaced("displaced", NOW, HEALTHY, 0));
        events.add(new AcquireEvent.GrantEnded(NOW, HEALTHY, 0));
        return events;
    }

    private AcquireWorld(AcquireWorld before) {
        scope = before.scope;
        before.operations.forEach(operation -> operations.add(operation.copy()));
        queue = before.queue;
        tasks = new ArrayList<>(before.tasks);
        holder = before.holder;
        closing = before.closing;
        silent = before.silent;
        faults = before.faults;
    }

    private boolean has(Option option) {
        return scope.options.contains(option);
    }

    private boolean usesLocalQueue() {
        return has(Option.LOCAL_QUEUE) && !has(Option.SINGLE_ATTEMPT);
    }

    // ---- steps

    @Override
    public List<Step<AcquireWorld>> steps() {
        Steps<AcquireWorld, AcquireWorld, Fault> steps = new Steps<>(
                faults, () -> new AcquireWorld(this), next -> next.faults = next.faults.spent(), next -> next);
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            steps.progress(() -> "thread: " + task, next -> next.run(task));
            if (task.enqueues(operations.get(task.operation).enqueued)) {
                steps.fault(Fault.NOT_ENQUEUED, () -> "thread: " + task + "fails", next -> {
                    next.tasks.remove(task);
                    next.bring(task.operation, new AcquireEvent.Failed(NO_REPLY, NOW, HEALTHY, 0));
                });
            }
        }
        if (scope.operations == 1 && tasks.size() >= MOST_THREADS) {
            return steps.all();
        }
        for (int i = 0; i < operations.size(); i++) {
            stepsOf(i, steps);
        }
        if (holder == ANOTHER) {
            steps.progress(() -> "the other client releases", AcquireWorld::freeLock);
        }
        stepsOfClose(steps);
        return steps.all();
    }

    private void stepsOf(int i, Steps<AcquireWorld, AcquireWorld, Fault> steps) {
        Operation operation = operations.get(i);
        String who = "operation " + i + ": ";
        if (!operation.started) {
            steps.progress(() -> who + "starts", next -> next.start(i));
            return;
        }
        if (operation.call == Call.SENT) {
            steps.progress(() -> who + "the store executes its attempt", next -> next.execute(i));
            steps.fault(Fault.NO_REPLY, () -> who + "its attempt is lost", next -> next.fail(i, NO_REPLY));
            steps.fault(Fault.REFUSED, () -> who + "its attempt is refused", next -> next.fail(i, REFUSED));
        } else if (operation.call != Call.NONE) {
            steps.progress(() -> who + "the reply arrives", next -> next.reply(i, false));
            steps.fault(Fault.NO_REPLY, () -> who + "the reply is lost", next -> next.fail(i, NO_REPLY));
            steps.fault(Fault.OUTAGE, () -> who + "the outage has lasted too long", next -> {
                next.silent = true;
                next.fail(i, NO_REPLY);
            });
            if (operation.call == Call.EXECUTED_GRANTED) {
                steps.fault(Fault.GRANT_ENDED, () -> who + "the reply comes too late", next -> next.reply(i, true));
            }
            steps.fault(Fault.DISPLACED, () -> who + "it is displaced", next -> next.displace(i));
        }
        if (operation.hinted) {
            steps.progress(() -> who + "a hint arrives", next -> next.hint(i, operation.enqueued));
        }
        if (operation.enqueued > 0) {
            steps.fault(Fault.SPURIOUS_HINT, () -> who + "a spurious hint", next -> next.hint(i, operation.enqueued));
        }
        if (operation.enqueued > 1) {
            steps.fault(Fault.SPURIOUS_HINT, () -> who + "a late hint", next -> next.hint(i, operation.enqueued - 1));
        }
        if (operation.timer) {
            steps.add(() -> who + "the time for the next attempt has come", Kind.FALLBACK, next -> {
                next.operations.get(i).timer = false;
                next.bring(i, new AcquireEvent.RetryDue(NOW));
            });
        }
        if (operation.enqueued > 0) {
            steps.fault(
                    Fault.LATE_TIMER,
                    () -> who + "a cancelled timer fires",
                    next -> next.bring(i, new AcquireEvent.RetryDue(NOW)));
        }
        if (operation.deadline) {
            steps.add(() -> who + "the time limit has passed", Kind.OPTIONAL, next -> {
                next.operations.get(i).deadline = false;
                next.bring(i, new AcquireEvent.DeadlineReached(false, next.now(), next.contact()));
            });
        }
        if (has(Option.WITHDRAWAL)
                && operation.state.isOpen()
                && operation.state.phase() != AcquireState.PlainPhase.NEW) {
            steps.add(
                    () -> who + "the caller gives up",
                    Kind.OPTIONAL,
                    next -> next.bring(i, AcquireEvent.Plain.WITHDRAW));
        }
        if (operation.removing) {
            steps.progress(() -> who + "its contender is removed", next -> next.removeFromStore(i));
        }
        if (operation.lease == LeaseModel.DELIVERED) {
            steps.progress(() -> who + "the application releases", next -> next.giveBack(i));
        }
    }

    private void stepsOfClose(Steps<AcquireWorld, AcquireWorld, Fault> steps) {
        switch (closing) {
            case OPEN -> {
                if (has(Option.CLOSE)) {
                    steps.add(() -> "the client closes", Kind.OPTIONAL, next -> next.closing = Closing.BEGUN);
                }
            }
            case BEGUN ->
                steps.progress(() -> "the waiters are told", next -> {
                    next.closing = Closing.WAITERS_TOLD;
                    for (int i = 0; i < operations.size(); i++) {
                        if (operations.get(i).registered) {
                            next.later(i, AcquireEvent.Plain.CLOSE);
                        }
                    }
                });
            case WAITERS_TOLD -> {
                if (tasks.stream().noneMatch(task -> task.event == AcquireEvent.Plain.CLOSE)) {
                    steps.progress(() -> "the holders are told", next -> {
                        next.closing = Closing.HOLDERS_TOLD;
                        for (int i = 0; i < operations.size(); i++) {
                            LeaseModel lease = operations.get(i).lease;
                            if (lease == LeaseModel.BEGUN || lease == LeaseModel.DELIVERED) {
                                next.giveBack(i);
                            }
                        }
                    });
                }
            }
            default -> {}
        }
    }

    // ---- the client

    private void later(int i, AcquireEvent event) {
        tasks.add(new Task(i, event, List.of()));
    }

    private void run(Task task) {
        tasks.remove(task);
        if (task.event != null) {
            bring(task.operation, task.event);
            return;
        }
        if (task.effects.isEmpty()) {
            followTimers(task.operation);
            return;
        }
        tasks.add(new Task(task.operation, null, task.effects.subList(1, task.effects.size())));
        perform(task.operation, task.effects.get(0));
    }

    private void performed(int i, List<AcquireEffect> effects) {
        if (scope.operations == 1) {
            tasks.add(new Task(i, null, effects));
        } else {
            effects.forEach(effect -> perform(i, effect));
            followTimers(i);
        }
    }

    private void start(int i) {
        Operation operation = operations.get(i);
        operation.started = true;
        operation.registered = true;
        AcquireEvent first = usesLocalQueue() ? AcquireEvent.Plain.START_IN_QUEUE : AcquireEvent.Plain.START;
        later(i, closing == Closing.OPEN ? first : AcquireEvent.Plain.CLOSE);
    }

    private void bring(int i, AcquireEvent event) {
        Operation operation = operations.get(i);
        boolean closes = isResult(event) && closing != Closing.OPEN && operation.state.isOpen();
        if (closes && !scope.missing.contains(ShellCheck.CLOSE_AT_RESULT)) {
            bring(i, AcquireEvent.Plain.CLOSE);
        }
        operation.toldOfClose |= event == AcquireEvent.Plain.CLOSE;
        AcquireState before = operation.state;
        AcquireState.Step step = scope.machine.apply(before, event);
        operation.state = step.state();
        checkWait(i, before, event, step);
        if (isResult(event)) {
            operation.grantEnded = event instanceof AcquireEvent.GrantEnded && scope.operations == 1;
            if (closing != Closing.OPEN && operation.state.isOpen()) {
                broken = Optional.of("S16: operation " + i + " goes on by a result that came after the close");
            }
        }
        if (!step.effects().isEmpty()
                || operation.timer != wantsTimer(operation)
                || operation.deadline != wantsDeadline(operation)) {
            performed(i, step.effects());
        }
    }

    /** Checks what an operation without a limit makes of an outage, and that the removal of its own grant does not wake it. */
    private void checkWait(int i, AcquireState before, AcquireEvent event, AcquireState.Step step) {
        boolean unlimited = before.policy().maxWait() == null;
        boolean told = step.effects().stream().anyMatch(AcquireEffect.Unavailable.class::isInstance);
        boolean silence = event instanceof AcquireEvent.StoreSilent
                || (event instanceof AcquireEvent.FirstInQueue first && first.storeSilent());
        boolean inOutage = SILENT.equals(contact(event));
        boolean queued =
                before.phase() == AcquireState.PlainPhase.JOINING || before.phase() == AcquireState.PlainPhase.QUEUED;
        if (unlimited && told && !inOutage) {
            broken = Optional.of("S15: operation " + i + " is told of an outage that is none");
        } else if (unlimited && !told && queued && silence && inOutage) {
            broken = Optional.of("S15: operation " + i + " waits through an outage");
        } else if (event instanceof AcquireEvent.LockFreed
                && operations.get(i).grantEnded
                && before.phase() instanceof AcquireState.Pause
                && step.state().phase() instanceof AcquireState.Attempting) {
            broken = Optional.of("S11: operation " + i + " is woken by the removal of its own grant");
        }
    }

    /** Returns what an event tells of the store; null if it tells nothing. */
    private static @Nullable StoreContact contact(AcquireEvent event) {
        if (event instanceof AcquireEvent.FirstInQueue first) {
            return first.contact();
        }
        if (event instanceof AcquireEvent.StoreSilent told) {
            return told.contact();
        }
        return event instanceof AcquireEvent.Unanswered result ? result.contact() : null;
    }

    private StoreContact contact() {
        return silent ? SILENT : HEALTHY;
    }

    private MonotonicInstant now() {
        return silent ? IN_OUTAGE : NOW;
    }

    private static boolean isResult(AcquireEvent event) {
        return event == AcquireEvent.Plain.GRANTED
                || event instanceof AcquireEvent.Busy
                || event instanceof AcquireEvent.Unanswered;
    }

    private static boolean wantsTimer(Operation operation) {
        return operation.state.retryAt() != null;
    }

    private static boolean wantsDeadline(Operation operation) {
        WaitPolicy policy = operation.state.policy();
        return policy.mayWait() && policy.maxWait() != null && operation.state.isOpen();
    }

    private void followTimers(int i) {
        Operation operation = operations.get(i);
        operation.timer = wantsTimer(operation);
        operation.deadline = wantsDeadline(operation);
    }

    private void perform(int i, AcquireEffect effect) {
        Operation operation = operations.get(i);
        if (effect instanceof AcquireEffect.Attempt attempt) {
            attempt(i, attempt.contender());
        } else if (effect instanceof AcquireEffect.Remove remove) {
            if (operation.enqueued == remove.contender()) {
                remove(i);
            }
        } else if (effect instanceof AcquireEffect.RecordFailure) {
            if (!queue.isEmpty() && queue.get(0) == i) {
                queue.stream().skip(1).forEach(each -> later(each, new AcquireEvent.StoreSilent(now(), contact())));
            }
        } else if (effect instanceof AcquireEffect.End) {
            outcome(i, World.name(effect));
            leaveQueue(i, effect instanceof AcquireEffect.Unavailable);
        } else if (effect instanceof AcquireEffect.Plain plain) {
            perform(i, plain);
        }
    }

    private void perform(int i, AcquireEffect.Plain effect) {
        Operation operation = operations.get(i);
        switch (effect) {
            case JOIN_QUEUE -> {
                queue = Stream.concat(queue.stream(), Stream.of(i)).toList();
                later(
                        i,
                        queue.size() == 1
                                ? new AcquireEvent.JoinedAsFirst(NOW)
                                : AcquireEvent.Plain.JOINED_BEHIND_OTHERS);
            }
            case LEAVE_QUEUE -> leaveQueue(i, false);
            case DELIVER -> {
                outcome(i, "delivered");
                if (operation.lease == LeaseModel.BEGUN) {
                    if (closing == Closing.OPEN) {
                        operation.lease = LeaseModel.DELIVERED;
                    } // else the caller gets an exception, and the close ends the lease
                } else if (closing == Closing.OPEN) {
                    broken = Optional.of("S07: operation " + i + " delivers a lease that never began");
                }
                leaveClient(i);
                leaveQueue(i, false);
            }
            case DISCARD -> {
                if (operation.orphan) {
                    operation.orphan = false;
                    freeLock();
                } else if (operation.lease != LeaseModel.ENDED) {
                    giveBack(i);
                }
            }
            case LEAVE_CLIENT -> leaveClient(i);
            case NOTIFY_WAITING -> {}
        }
    }

    private void outcome(int i, String outcome) {
        operations.get(i).outcomes++;
        operations.get(i).outcome = outcome;
    }

    private void leaveClient(int i) {
        Operation operation = operations.get(i);
        if (operation.call != Call.NONE) {
            broken = Optional.of("S16: operation " + i + " leaves the client during an attempt");
        }
        operation.registered = false;
    }

    private void leaveQueue(int i, boolean storeSilent) {
        boolean first = !queue.isEmpty() && queue.get(0) == i;
        queue = queue.stream().filter(each -> each != i).toList();
        if (first && !queue.isEmpty()) {
            later(
                    queue.get(0),
                    closing == Closing.OPEN
                            ? new AcquireEvent.FirstInQueue(storeSilent, now(), contact())
                            : AcquireEvent.Plain.CLOSE);
        }
    }

    private void hint(int i, int contender) {
        if (contender == operations.get(i).enqueued) {
            operations.get(i).hinted = false;
        }
        bring(i, new AcquireEvent.Hint(contender, NOW));
    }

    // ---- contenders

    private void attempt(int i, int contender) {
        Operation operation = operations.get(i);
        if (!operation.state.isOpen() && !scope.missing.contains(ShellCheck.OPEN_AT_ATTEMPT)) {
            bring(i, AcquireEvent.Plain.NOT_SENT);
            return;
        }
        if (operation.call != Call.NONE) {
            broken = Optional.of("SPI: operation " + i + " overlaps calls on its contender");
        } else if (contender == operation.enqueued && operation.removed) {
            broken = Optional.of("SPI: operation " + i + " makes an attempt with a contender that has ended");
        } else if (operation.toldOfClose) {
            broken = Optional.of("S16: operation " + i + " goes on after the close");
        } else if (usesLocalQueue() && queue.indexOf(i) != 0) {
            broken = Optional.of("S12: operation " + i + " overtakes the local queue");
        }
        if (contender != operation.enqueued) {
            if (operation.removing) {
                removeFromStore(i);
            } else if (operation.stored == Stored.GRANT) { // to be given back by the thread to which it came
                operation.orphan = true;
                holder = ORPHAN;
            } else if (operation.stored == Stored.ENTRY) {
                broken = Optional.of("S08: operation " + i + " has forgotten a contender");
            }
            operation.stored = Stored.NOTHING;
            operation.enqueued = contender;
            operation.removed = false;
            operation.hinted = false;
        }
        operation.call = Call.SENT;
        operation.lease = LeaseModel.NONE;
    }

    private void execute(int i) {
        Operation operation = operations.get(i);
        if (holder == NOBODY && queuedBefore(i)) {
            holder = i;
        }
        if (holder == i) {
            operation.stored = Stored.GRANT;
            operation.call = Call.EXECUTED_GRANTED;
        } else {
            operation.stored = has(Option.LOCAL_QUEUE) || has(Option.SINGLE_ATTEMPT) ? Stored.NOTHING : Stored.ENTRY;
            operation.call = Call.EXECUTED_BUSY;
        }
    }

    /** Returns whether no other contender is queued in the store. */
    private boolean queuedBefore(int i) {
        return operations.stream()
                .filter(each -> each.stored == Stored.ENTRY)
                .allMatch(each -> each == operations.get(i));
    }

    private void reply(int i, boolean tooLate) {
        Operation operation = operations.get(i);
        boolean granted = operation.call == Call.EXECUTED_GRANTED;
        operation.call = Call.NONE;
        silent = false;
        if (!granted) {
            bring(i, new AcquireEvent.Busy(Duration.ZERO, NOW, 0));
            return;
        }
        boolean usable = !tooLate && operation.state.isOpen() && closing != Closing.HOLDERS_TOLD;
        operation.lease = usable ? LeaseModel.BEGUN : LeaseModel.NONE;
        later(i, usable ? AcquireEvent.Plain.GRANTED : new AcquireEvent.GrantEnded(NOW, HEALTHY, 0));
    }

    private void fail(int i, LockException cause) {
        operations.get(i).call = Call.NONE;
        bring(i, new AcquireEvent.Failed(cause, now(), contact(), 0));
    }

    private void displace(int i) {
        Operation operation = operations.get(i);
        operation.call = Call.NONE;
        operation.removed = true;
        operation.removing = operation.stored != Stored.NOTHING;
        bring(i, new AcquireEvent.Displaced("displaced", NOW, HEALTHY, 0));
    }

    /** The lease ends: the grant is removed. */
    private void giveBack(int i) {
        operations.get(i).lease = LeaseModel.ENDED;
        remove(i);
    }

    private void remove(int i) {
        Operation operation = operations.get(i);
        if (operation.call != Call.NONE) {
            broken = Optional.of("SPI: operation " + i + " ends its contender during an attempt");
        } else if (operation.removed) {
            broken = Optional.of("S08: operation " + i + " removes its contender twice");
        }
        operation.removed = true;
        operation.removing = true;
    }

    private void removeFromStore(int i) {
        Operation operation = operations.get(i);
        operation.removing = false;
        boolean held = operation.stored == Stored.GRANT;
        operation.stored = Stored.NOTHING;
        if (held) {
            freeLock();
            if (closing == Closing.OPEN && !queue.isEmpty()) {
                later(queue.get(0), new AcquireEvent.LockFreed(NOW));
            }
        }
    }

    /** Hands the lock to the first contender in the store's queue, and sends it a hint. */
    private void freeLock() {
        holder = NOBODY;
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            if (operation.stored == Stored.ENTRY) {
                holder = i;
                operation.stored = Stored.GRANT;
                operation.hinted = !operation.removed;
                return;
            }
        }
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        for (int i = 0; i < operations.size(); i++) {
            if (operations.get(i).outcomes > 1) {
                return Optional.of("S09: operation " + i + " has two outcomes");
            }
        }
        return isFinal() ? leftovers() : Optional.empty();
    }

    private Optional<String> leftovers() {
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            if (operation.outcomes != 1) {
                return Optional.of("S09: operation " + i + " has no outcome");
            }
            if (operation.stored != Stored.NOTHING || operation.orphan) {
                return Optional.of("S08: operation " + i + " has ended, and the store has its " + operation.stored);
            }
            if (operation.timer || operation.deadline || operation.registered) {
                return Optional.of("S17: operation " + i + " has ended, and is still known to the client");
            }
        }
        return queue.isEmpty() ? Optional.empty() : Optional.of("S17: the local queue still has " + queue);
    }

    @Override
    public boolean isFinal() {
        return tasks.isEmpty()
                && closing != Closing.BEGUN
                && closing != Closing.WAITERS_TOLD
                && operations.stream()
                        .allMatch(each -> each.state.phase() == AcquireState.PlainPhase.ENDED
                                && each.lease != LeaseModel.BEGUN
                                && each.lease != LeaseModel.DELIVERED
                                && !each.removing);
    }

    @Override
    public List<String> situations() {
        Set<String> present = new TreeSet<>();
        for (Operation operation : operations) {
            present.add(World.name(operation.state.phase()));
            if (operation.lease == LeaseModel.BEGUN && closing != Closing.OPEN) {
                present.add("granted during the close");
            }
            if (operation.outcomes == 1 && operation.call != Call.NONE) {
                present.add("ended during an attempt");
            }
            if (operation.enqueued > 1) {
                present.add("replaced");
            }
            if (operation.outcome != null) {
                present.add(operation.outcome);
            }
            if (operation.state.history().busy() && holder == ANOTHER) {
                present.add("busy with another client");
            }
            if (operation.state.phase() instanceof AcquireState.Attempting attempting) {
                present.add(attempting.woken() ? "woken" : operation.timer ? "tries again before its time" : "tries");
            }
            if (operation.enqueued == 0 && operation.state.phase() instanceof AcquireState.BackingOff) {
                present.add("backs off without a contender");
            }
        }
        return List.copyOf(present);
    }

    // ---- the key

    private static void describe(AcquireEffect effect, StringBuilder text) {
        text.append(World.name(effect));
        if (effect instanceof AcquireEffect.Attempt attempt) {
            text.append(attempt.contender());
        } else if (effect instanceof AcquireEffect.Remove remove) {
            text.append(remove.contender());
        }
        text.append(' ');
    }

    @Override
    public void describe(StateKey key) {
        key.number(holder).value(closing).number(faults.left()).numbers(queue).flags(silent);
        for (Operation operation : operations) {
            AcquireState state = operation.state;
            key.value("\noperation").value(nameOf(state.phase())).number(state.contender());
            key.flags(
                    state.phase() instanceof AcquireState.Attempting attempting && attempting.woken(),
                    state.phase() instanceof AcquireState.BackingOff pause && pause.discards(),
                    state.history().displaced(),
                    state.history().busy(),
                    state.history().failures() > 0,
                    operation.started,
                    operation.registered,
                    operation.toldOfClose,
                    operation.orphan,
                    operation.removing,
                    operation.removed,
                    operation.grantEnded,
                    operation.hinted,
                    operation.timer,
                    operation.deadline);
            key.number(operation.outcomes).number(operation.enqueued);
            key.value(operation.call).value(operation.stored).value(operation.lease);
        }
        key.unordered(tasks, AcquireWorld::describe);
    }

    private static void describe(StateKey key, Task task) {
        key.value("\nthread").number(task.operation).value(task.event == null ? null : nameOf(task.event));
        key.flags(
                task.event instanceof AcquireEvent.FirstInQueue first && first.storeSilent(),
                task.event != null && SILENT.equals(contact(task.event)));
        key.list(task.effects, AcquireWorld::describe);
    }

    private static void describe(StateKey key, AcquireEffect effect) {
        key.value(nameOf(effect));
        if (effect instanceof AcquireEffect.Attempt attempt) {
            key.number(attempt.contender());
        } else if (effect instanceof AcquireEffect.Remove remove) {
            key.number(remove.contender());
        }
    }

    /** Returns what has the name in its text. */
    private static Object nameOf(Object plainOrNot) {
        return plainOrNot instanceof Enum<?> ? plainOrNot : plainOrNot.getClass();
    }
}
