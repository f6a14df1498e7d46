// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.FailAttempt;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.FailEnd;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.GrantLease;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.LeaveQueue;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.NoteDelivery;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.PassTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportEnded;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.ReportGranted;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.RevokeLease;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendGiveWay;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendMove;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendPut;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SendWithdrawal;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.SetRevision;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.AcquireFailed;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.RemovalFailed;
import io.mortise.lock.etcd.contender.ModelledRequest.Origin;
import io.mortise.lock.etcd.contender.ModelledSession.Member;
import io.mortise.lock.etcd.contender.ModelledSession.Notification;
import io.mortise.lock.etcd.contender.ModelledSession.TurnNotification;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Event;
import io.mortise.lock.explorer.etcd.EtcdStore.Outcome;
import io.mortise.lock.explorer.etcd.EtcdStore.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their clients' sessions, and an etcd cluster, at one moment. The state
 * machine is that of production; the core, what the contenders of a client share, and the store are modelled. Never changed after
 * its step.
 *
 * <p>Requests of a connection are executed in any order. Time is not modelled. A lease's deadline is a step, and the store ends the
 * lease only after it.
 */
final class EtcdWorld implements World<EtcdWorld>, CorePhase.Calls {
    private static final String LOCK = "a/";
    private static final long FIRST_REVISION = 1_000_000_000_000_000L; // 16 digits, so that only its rank counts
    private static final long FIRST_DELAY = 100; // the leases of delays come after those of sessions
    private static final Duration DELAY = Duration.ofSeconds(9);
    private static final List<Throwable> FAILURE = List.of(new BackendUnavailableException("as planned"));

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param flaws what is wrong beside the machine
     */
    record Variant(
            BiFunction<EtcdContenderState, EtcdContenderEvent, EtcdContenderState.Step> machine, Set<Flaw> flaws) {
        static final Variant PRODUCTION = new Variant(EtcdContenderState::on, Set.of());
    }

    /** A defect beside the machine: in a copy of what {@code EtcdContenderRequests} or the session do, or in the checks. */
    enum Flaw {
        /** The store may end a session before its deadline, as after a keepalive that a replaced leader has answered. */
        SESSION_ENDS_EARLY,
        /** It is not checked that the holder is the first in the queue. */
        HEAD_IS_NOT_CHECKED,
        /** The queue is read when the watch is requested, and not once it is registered. */
        READ_BEFORE_WATCH,
        /** A watch that has ended is not opened again. */
        WATCH_STAYS_CLOSED,
        /** A put is executed in any epoch. */
        PUT_IN_ANY_EPOCH,
        /** A contender that gives way deletes whatever key is in its slot. */
        GIVE_WAY_WITH_ANY_KEY,
        /** A delayed release that starts a new epoch puts the session's key, also if that was deleted. */
        MOVE_PUTS_SESSION_KEY,
        /** A withdrawal takes each key with the record of the contender for that of the grant. */
        WITHDRAWAL_OF_ANY_KEY
    }

    /**
     * The scope of an exploration.
     *
     * @param clientOfContender the client of each contender
     * @param kinds what each contender does: w waits, d waits and releases with a delay, o waits and gives up if it is
     *     displaced, t does not wait, u does not wait and is followed by another such one
     * @param faults the number of faults
     * @param possible the kinds of faults
     * @param givingUp whether callers may give up
     */
    record Scope(
            List<Integer> clientOfContender,
            String kinds,
            int faults,
            Set<Fault> possible,
            boolean givingUp,
            Variant variant) {
        Scope with(Variant other) {
            return new Scope(clientOfContender, kinds, faults, possible, givingUp, other);
        }
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A request gets no reply. It was executed, or is executed at any time, or never. */
        NO_REPLY,
        /** The same to a contender that gives way, where other requests have their replies. */
        NO_REPLY_TO_GIVING_WAY,
        /** A connection is lost, with all replies and the watch. */
        CUT,
        /** The store restarts with its data and leases, or its leader changes: the connections of all clients are lost at once. */
        RESTART,
        /** The store is full. It has executed the put before it noticed that, or not. */
        FULL,
        /** A watch ends, with the events that are on their way. */
        WATCH_LOST,
        /** The session has not been proved alive until its deadline. */
        DEADLINE,
        /** An operator revokes the lease of a session, or deletes its key. */
        REVOKED,
        /** An operator deletes a contender's key. */
        OPERATOR
    }

    /** A request on its way; without a contender, the read of the queue after a watch was registered. */
    record Sent(int contender, int incarnation, @Nullable ModelledRequest request, long grant) {
        @Override
        public String toString() {
            String what = request != null ? request.kind().name() : grant > 0 ? "LEASE" : "QUEUE READ";
            return contender < 0 ? what : what + " of contender " + contender;
        }

        /** @param hasKnownOrigin whether the contender still has the key and the record of the request */
        void describe(StateKey key, boolean hasKnownOrigin) {
            key.flags(contender >= 0, hasKnownOrigin);
            if (contender >= 0) {
                key.participant(contender).number(incarnation);
            }
            if (request != null) {
                request.describe(key);
                if (!hasKnownOrigin) {
                    key.value(request.from().key()).value(request.from().record());
                }
            } else {
                key.number(grant);
            }
        }

        /** Returns the fault that the loss of this request or its reply counts as. */
        Fault noReply(Set<Fault> possible) {
            boolean givesWay = request != null && request.kind() == ModelledRequest.Kind.GIVE_WAY;
            return givesWay && !possible.contains(Fault.NO_REPLY) ? Fault.NO_REPLY_TO_GIVING_WAY : Fault.NO_REPLY;
        }

        boolean isPut() {
            return request != null && request.kind() == ModelledRequest.Kind.PUT;
        }

        boolean isAcquire() {
            return request != null
                    && switch (request.kind()) {
                        case PUT, READ, CHECK, GIVE_WAY -> true;
                        case DELETE, DELETE_IF_OWN, WITHDRAW, MOVE -> false;
                    };
        }
    }

    /**
     * A reply on its way; without a result, a lease did not exist.
     *
     * @param removed whether the request has deleted or moved the key of the contender, of the grant if it has had one
     */
    record Reply(Sent to, Optional<Result> result, @Nullable EtcdStore read, long revision, boolean removed) {
        void describe(StateKey key) {
            to.describe(key, true);
            key.number(revision).flags(result.isPresent(), read != null, removed);
            result.ifPresent(found -> describe(key, found));
            if (read != null) {
                key.list(
                        read.keys().entrySet(),
                        (into, each) ->
                                into.value(each.getKey()).number(each.getValue().createRevision()));
                key.number(read.revision());
            }
        }

        private static void describe(StateKey key, Result found) {
            key.flags(found.succeeded(), found.entry() != null).number(found.count());
            if (found.entry() != null) {
                key.value(found.key()).number(found.entry().createRevision());
                key.number(found.entry().version()).value(found.entry().value());
            }
            key.list(found.parts(), Reply::describe);
        }
    }

    private static final class Client {
        ModelledSession session;
        int sessions = 1;
        final List<Sent> sent;
        final List<Reply> replies;

        Client(ModelledSession session) {
            this.session = session;
            sent = new ArrayList<>();
            replies = new ArrayList<>();
        }

        Client(Client from) {
            session = new ModelledSession(from.session);
            sessions = from.sessions;
            sent = new ArrayList<>(from.sent);
            replies = new ArrayList<>(from.replies);
        }
    }

    private static final class Contender {
        final int client;
        final char kind;
        int incarnation;
        String record = ""; // made once, since keys of worlds know texts by their identity
        EtcdContenderState protocol;
        CorePhase core = CorePhase.NEW;
        boolean woken;
        boolean gaveUp;
        boolean revoked; // an operator has ended the grant
        boolean deferredWatch;
        boolean awaitsSession;
        boolean cleansUp; // the core has replaced it, and does not end it
        boolean removed; // as the last reply has found the store
        boolean working; // the machine is taking an event
        long lease; // of its session
        int slot;
        String key = "";
        long revision;
        long token;
        final List<EtcdContenderEvent> inbox;
        final List<Runnable> actions = new ArrayList<>(); // empty between steps

        Contender(int client, char kind) {
            this.client = client;
            this.kind = kind;
            protocol = EtcdContenderState.initial(waits());
            inbox = new ArrayList<>();
        }

        Contender(Contender from) {
            client = from.client;
            kind = from.kind;
            incarnation = from.incarnation;
            record = from.record;
            protocol = from.protocol;
            core = from.core;
            woken = from.woken;
            gaveUp = from.gaveUp;
            revoked = from.revoked;
            deferredWatch = from.deferredWatch;
            awaitsSession = from.awaitsSession;
            cleansUp = from.cleansUp;
            removed = from.removed;
            lease = from.lease;
            slot = from.slot;
            key = from.key;
            revision = from.revision;
            token = from.token;
            inbox = new ArrayList<>(from.inbox);
        }

        boolean waits() {
            return kind != 't' && kind != 'u';
        }

        /** Forgets what a contender that has ended does not use. */
        void forget() {
            woken = false;
            key = "";
            revision = 0;
            token = 0;
        }

        /** Begins again with another attempt id. */
        void replace() {
            incarnation++;
            record = "";
            protocol = EtcdContenderState.initial(waits());
            core = CorePhase.NEW;
            woken = false;
            revoked = false;
            deferredWatch = false;
            removed = false;
            lease = 0;
            slot = 0;
            key = "";
            revision = 0;
            token = 0;
            inbox.clear();
        }
    }

    private final Scope scope;
    private EtcdStore store;
    private final List<Client> clients = new ArrayList<>();
    private final List<Contender> contenders = new ArrayList<>();
    private final List<Sent> strays; // had no reply and may be executed
    private FaultBudget<Fault> faults;
    private long nextDelay = FIRST_DELAY;
    private long highestToken;
    private Optional<String> broken = Optional.empty();

    /** The start: contenders that have made no request. */
    EtcdWorld(Scope scope) {
        this.scope = scope;
        this.faults = new FaultBudget<>(scope.faults, scope.possible);
        this.strays = new ArrayList<>();
        this.store = EtcdStore.empty(FIRST_REVISION);
        int count = scope.clientOfContender.stream().mapToInt(i -> i + 1).max().orElse(0);
        for (int i = 0; i < count; i++) {
            clients.add(new Client(openSession(i, 0)));
        }
        for (int i = 0; i < scope.clientOfContender.size(); i++) {
            contenders.add(new Contender(scope.clientOfContender.get(i), scope.kinds.charAt(i)));
        }
    }

    private EtcdWorld(EtcdWorld from) {
        scope = from.scope;
        store = from.store;
        strays = new ArrayList<>(from.strays);
        from.clients.forEach(each -> clients.add(new Client(each)));
        from.contenders.forEach(each -> contenders.add(new Contender(each)));
        faults = from.faults;
        nextDelay = from.nextDelay;
        highestToken = from.highestToken;
        broken = from.broken;
    }

    private boolean has(Flaw flaw) {
        return scope.variant.flaws.contains(flaw);
    }

    private Client clientOf(int contender) {
        return clients.get(contenders.get(contender).client);
    }

    /** Returns the session of a contender; null if it has ended. */
    private @Nullable ModelledSession sessionOf(int i) {
        ModelledSession session = clientOf(i).session;
        return session.lease == contenders.get(i).lease && !session.ended ? session : null;
    }

    // ---- steps

    @Override
    public List<Step<EtcdWorld>> steps() {
        Steps<EtcdWorld, EtcdWorld, Fault> steps =
                new Steps<>(faults, () -> new EtcdWorld(this), EtcdWorld::spendFault, EtcdWorld::withoutEffectless);
        for (int i = 0; i < contenders.size(); i++) {
            stepsOfCore(i, steps);
        }
        for (int i = 0; i < clients.size(); i++) {
            stepsOfRequests(i, steps);
            stepsOfWatch(i, steps);
            stepsOfSession(i, steps);
        }
        stepsOfStore(steps);
        return steps.all();
    }

    private void spendFault() {
        faults = faults.spent();
    }

    /** Forgets what has no effect any more, so that fewer worlds differ. */
    private EtcdWorld withoutEffectless() {
        for (int at = 0; at < clients.size(); at++) {
            int client = at;
            Client each = clients.get(at);
            if (each.session.watch != Watch.NONE
                    && contenders.stream().noneMatch(one -> one.client == client && one.core != CorePhase.DONE)) {
                endWatch(at, false);
            }
            each.replies.removeIf(reply -> !isAwaited(reply.to));
            each.sent.removeIf(sent -> !isAwaited(sent) && !mayChangeStore(sent));
        }
        strays.removeIf(stray -> !mayChangeStore(stray));
        List.copyOf(store.leases()).stream().filter(this::isUseless).forEach(this::endLease);
        contenders.stream()
                .filter(each -> each.core == CorePhase.DONE && each.protocol.phase() instanceof EtcdContenderState.Gone)
                .forEach(Contender::forget);
        return this;
    }

    /** Returns whether a lease is that of a session that has ended, without keys and requests that name it. */
    private boolean isUseless(long lease) {
        if (lease >= FIRST_DELAY) {
            return false;
        }
        ModelledSession session = clients.get((int) (lease / 10)).session;
        return (session.lease != lease || session.ended)
                && store.keys().entrySet().stream()
                        .noneMatch(each -> each.getKey().startsWith(LOCK)
                                && each.getValue().lease() == lease)
                && Stream.concat(clients.stream().flatMap(client -> client.sent.stream()), strays.stream())
                        .noneMatch(sent ->
                                sent.request != null && sent.request.from().lease() == lease);
    }

    /** Returns whether anybody takes the reply. */
    private boolean isAwaited(Sent sent) {
        return sent.contender < 0 || contenders.get(sent.contender).incarnation == sent.incarnation;
    }

    private boolean hasKnownOrigin(Sent sent) {
        return sent.request == null
                || (isAwaited(sent) && sent.request.from().key().equals(contenders.get(sent.contender).key));
    }

    /** Returns whether the execution of a request may change the store, now or later. */
    private boolean mayChangeStore(Sent sent) {
        ModelledRequest request = sent.request;
        if (request == null) {
            return false; // nobody uses a lease without its reply
        }
        Origin from = request.from();
        boolean isOver = !store.leases().contains(from.lease()) && !store.keys().containsKey(from.key());
        return switch (request.kind()) {
            case READ, CHECK -> false;
            case PUT, GIVE_WAY, DELETE, DELETE_IF_OWN, WITHDRAW, MOVE ->
                !isOver && scopedTransaction(request).compares().stream().noneMatch(this::isFalseForEver);
        };
    }

    /** Revisions and versions rise, and a session's key is not put again after it was deleted. */
    private boolean isFalseForEver(EtcdStore.Compare compare) {
        if (compare instanceof EtcdStore.CreatedAt at) {
            return at.revision() > 0 && store.createRevision(at.key()) != at.revision();
        }
        if (compare instanceof EtcdStore.HasVersion has) {
            EtcdStore.Entry entry = store.keys().get(has.key());
            return entry == null || entry.version() > has.version();
        }
        return compare instanceof EtcdStore.Exists exists && !store.keys().containsKey(exists.key());
    }

    private void stepsOfCore(int i, Steps<EtcdWorld, EtcdWorld, Fault> steps) {
        Contender contender = contenders.get(i);
        String who = "contender " + i + " ";
        contender.core.addSteps(i, contender.woken, scope.givingUp && !contender.gaveUp, steps);
        if (contender.core == CorePhase.END_FAILED) {
            if (contender.kind == 'd' && contender.token != 0) {
                steps.progress(() -> who + "ends again with a delay", next -> next.end(i, true));
            }
            steps.fault(
                    Fault.DEADLINE, () -> who + "is abandoned", next -> next.feed(i, new EtcdContenderEvent.Abandon()));
        }
        if (contender.deferredWatch) {
            steps.add(() -> who + "has held the lock for long", Kind.OPTIONAL, next -> {
                next.contenders.get(i).deferredWatch = false;
                next.feed(i, new EtcdContenderEvent.WatchDue());
            });
        }
        if (contender.awaitsSession && !store.leases().contains(contender.lease)) {
            steps.progress(() -> who + "learns that its session was deleted", next -> {
                next.contenders.get(i).awaitsSession = false;
                next.feed(i, new EtcdContenderEvent.SessionRemoved());
            });
        }
    }

    private void stepsOfRequests(int at, Steps<EtcdWorld, EtcdWorld, Fault> steps) {
        Client client = clients.get(at);
        for (int i = 0; i < client.sent.size(); i++) {
            int index = i;
            Sent sent = client.sent.get(i);
            steps.progress(() -> "the store executes " + sent, next -> {
                next.clients.get(at).sent.remove(index);
                next.clients.get(at).replies.add(next.execute(sent));
            });
            if (sent.contender >= 0 && isAwaited(sent)) {
                steps.fault(sent.noReply(scope.possible), () -> "no reply in time to " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    next.strays.add(sent);
                    next.fail(sent, Execution.AT_ANY_TIME);
                });
            }
            if (sent.isPut()) {
                steps.fault(Fault.FULL, () -> "the store is full after it has executed " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    next.execute(sent);
                    next.fail(sent, Execution.DONE_OR_NEVER);
                });
                steps.fault(Fault.FULL, () -> "the store is full and does not execute " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    next.fail(sent, Execution.DONE_OR_NEVER);
                });
            }
        }
        for (int i = 0; i < client.replies.size(); i++) {
            int index = i;
            Reply reply = client.replies.get(i);
            steps.progress(() -> "client " + at + " receives the reply to " + reply.to, next -> {
                next.clients.get(at).replies.remove(index);
                next.receive(at, reply);
            });
            if (reply.to.contender >= 0) {
                steps.fault(Fault.NO_REPLY, () -> "the reply is lost: " + reply.to, next -> {
                    next.clients.get(at).replies.remove(index);
                    next.fail(reply.to, Execution.AT_ANY_TIME);
                });
            }
        }
        steps.fault(Fault.CUT, () -> "the connection of client " + at + " is cut", next -> next.cut(at));
    }

    private void stepsOfWatch(int at, Steps<EtcdWorld, EtcdWorld, Fault> steps) {
        ModelledSession session = clients.get(at).session;
        if (session.watch == Watch.OPENING) {
            steps.progress(() -> "the watch of client " + at + " is registered", next -> next.registerWatch(at));
        }
        if (!session.arriving.isEmpty()) {
            steps.progress(() -> "client " + at + " receives an event", next -> {
                ModelledSession receiving = next.clients.get(at).session;
                List<Event> events = receiving.arriving.remove(0);
                next.notifying(notify -> receiving.changed(events, notify));
            });
        }
        if (session.watch != Watch.NONE && !session.hasMembers()) {
            steps.progress(() -> "client " + at + " closes the unused watch", next -> next.endWatch(at, false));
        }
        if (session.watch == Watch.REGISTERED) {
            steps.fault(Fault.WATCH_LOST, () -> "the watch of client " + at + " ends", next -> next.loseWatch(at));
        }
    }

    private void stepsOfSession(int at, Steps<EtcdWorld, EtcdWorld, Fault> steps) {
        ModelledSession session = clients.get(at).session;
        if (session.ended) {
            return;
        }
        if (!session.deadlinePassed && mayFail(at)) {
            steps.fault(
                    Fault.DEADLINE,
                    () -> "the deadline of client " + at + " passes",
                    next -> next.clients.get(at).session.deadlinePassed = true);
        }
        if (session.deadlinePassed || !store.keys().containsKey(session.key())) {
            steps.progress(() -> "client " + at + " ends its session", next -> next.endSession(at));
        }
    }

    /** If two clients are alike, what happens to the session of the second one is what happens to that of the first one. */
    private boolean mayFail(int client) {
        boolean areAlike = scope.clientOfContender.equals(List.of(0, 1))
                && scope.kinds.charAt(0) == scope.kinds.charAt(1)
                && faults.left() == scope.faults;
        return client == 0 || !areAlike;
    }

    private void stepsOfStore(Steps<EtcdWorld, EtcdWorld, Fault> steps) {
        if (clients.size() > 1) { // with one it is a lost connection
            steps.fault(Fault.RESTART, () -> "the store restarts", next -> {
                for (int at = 0; at < next.clients.size(); at++) {
                    next.cut(at);
                }
            });
        }
        for (long lease : store.leases()) {
            if (lease >= FIRST_DELAY) {
                boolean isMoving = clients.stream()
                        .flatMap(client -> client.sent.stream())
                        .anyMatch(sent -> sent.request != null
                                && sent.request.kind() == ModelledRequest.Kind.MOVE
                                && sent.request.number() == lease);
                boolean isAwaited = contenders.stream()
                        .anyMatch(each -> each.protocol.phase() instanceof EtcdContenderState.LeasingDelay);
                if (!isMoving && !isAwaited) { // a delay is longer than a request
                    steps.progress(() -> "the delay of lease " + lease + " ends", next -> next.endLease(lease));
                }
                continue;
            }
            ModelledSession session = clients.get((int) (lease / 10)).session;
            boolean outdated = session.lease != lease || session.deadlinePassed || session.ended;
            String label = "the store deletes session " + lease;
            if (outdated) {
                steps.progress(() -> label, next -> next.endLease(lease));
                continue;
            }
            if (has(Flaw.SESSION_ENDS_EARLY)) {
                steps.fault(Fault.DEADLINE, () -> label, next -> next.endLease(lease));
            }
            if (!mayFail((int) (lease / 10))) {
                continue;
            }
            steps.fault(Fault.REVOKED, () -> "an operator revokes lease " + lease, next -> {
                next.revokeHead(entry -> entry.lease() == lease);
                next.endLease(lease);
            });
            if (store.keys().containsKey(session.key())) {
                steps.fault(
                        Fault.REVOKED,
                        () -> "an operator deletes the key of session " + lease,
                        next -> next.delete(session.key()));
            }
        }
        for (int i = 0; i < strays.size(); i++) {
            int index = i;
            Sent stray = strays.get(i);
            steps.add(() -> "the store executes late: " + stray, Kind.OPTIONAL, next -> {
                next.execute(next.strays.remove(index));
            });
            steps.progress(() -> "never executed: " + stray, next -> next.strays.remove(index));
        }
        for (String key : store.queue(LOCK)) {
            steps.fault(Fault.OPERATOR, () -> "an operator deletes " + key, next -> {
                EtcdStore.Entry deleted = next.store.keys().get(key);
                next.revokeHead(entry -> entry.equals(deleted));
                next.delete(key);
            });
        }
    }

    private void delete(String key) {
        apply(new EtcdStore.Txn(List.of(), List.of(new EtcdStore.Delete(key, false)), List.of()));
    }

    /** Notes that the holder does not hold the lock any more if its key is among those that are deleted. */
    private void revokeHead(Predicate<EtcdStore.Entry> deleted) {
        List<String> queue = store.queue(LOCK);
        if (queue.isEmpty()) {
            return;
        }
        EtcdStore.Entry head = store.keys().get(queue.get(0));
        if (head != null && deleted.test(head)) {
            for (int i = 0; i < contenders.size(); i++) {
                contenders.get(i).revoked |= record(i).equals(head.value());
            }
        }
    }

    // ---- the core

    @Override
    public void attempt(int i) {
        Contender contender = contenders.get(i);
        contender.core = CorePhase.ATTEMPTING;
        contender.woken = false;
        feed(i, new EtcdContenderEvent.Attempt(epoch(i)));
    }

    @Override
    public void release(int i) {
        end(i, contenders.get(i).kind == 'd');
    }

    @Override
    public void end(int i) {
        end(i, false);
    }

    private void end(int i, boolean withDelay) {
        Contender contender = contenders.get(i);
        contender.core = CorePhase.ENDING;
        contender.removed = false;
        feed(i, withDelay ? new EtcdContenderEvent.EndAfter(DELAY, epoch(i)) : new EtcdContenderEvent.End(epoch(i)));
    }

    private long epoch(int i) {
        ModelledSession session = clientOf(i).session;
        return session.lease == contenders.get(i).lease ? session.epoch : 0;
    }

    @Override
    public void giveUp(int i) {
        Contender contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != CorePhase.ATTEMPTING) {
            end(i);
        }
    }

    /** Returns whether the core awaits this outcome. */
    private boolean awaits(int i, CorePhase expected) {
        Contender contender = contenders.get(i);
        if (contender.core != expected) {
            broken = Optional.of("SPI: contender " + i + " has an outcome while " + contender.core);
        }
        return contender.core == expected;
    }

    private void attemptEnded(int i, CorePhase then) {
        if (awaits(i, CorePhase.ATTEMPTING)) {
            contenders.get(i).core = then;
            if (contenders.get(i).gaveUp
                    || (then == CorePhase.WAITING && !contenders.get(i).waits())) {
                end(i);
            }
        }
    }

    private void displaced(int i) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        Contender contender = contenders.get(i);
        boolean asksAgain = !contender.gaveUp && contender.kind != 'o';
        if (!contender.cleansUp) {
            contender.core = CorePhase.DONE;
            if (asksAgain) {
                contender.replace();
            }
            return;
        }
        contender.core = CorePhase.END_FAILED; // the cleanup ends it
        if (asksAgain) {
            contenders.add(new Contender(contender.client, contender.kind));
        }
    }

    private void granted(int i, long token) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        Contender contender = contenders.get(i);
        ModelledSession session = sessionOf(i);
        contender.core = CorePhase.HOLDING;
        contender.token = token;
        if (contender.gaveUp || session == null || session.deadlinePassed) {
            end(i);
        } else if (believes(i)) {
            if (token <= highestToken) {
                broken = Optional.of("S03: token " + token + " after " + highestToken);
            }
            highestToken = token;
        }
    }

    private void ended(int i, boolean existed) {
        if (!awaits(i, CorePhase.ENDING)) {
            return;
        }
        Contender contender = contenders.get(i);
        contender.core = CorePhase.DONE;
        if (existed != contender.removed) {
            broken = Optional.of("S05: the end of contender " + i + " says " + existed + ", and the store "
                    + (contender.removed ? "had" : "did not have") + " its key");
        }
        contender.removed = false;
        if (contender.kind == 'u' && contender.incarnation == 0) {
            contender.replace();
        }
    }

    /** Returns whether {@code isHeld()} of the contender's lease is true, and no operator has taken the lock from it. */
    private boolean believes(int i) {
        Contender contender = contenders.get(i);
        ModelledSession session = sessionOf(i);
        return contender.core == CorePhase.HOLDING && !contender.revoked && session != null && !session.deadlinePassed;
    }

    // ---- the state machine

    /** Takes an event as {@code SerialMachine} does: what comes meanwhile waits, and the core is told afterwards. */
    private void feed(int i, EtcdContenderEvent event) {
        Contender contender = contenders.get(i);
        contender.inbox.add(event);
        while (!contender.working && !contender.inbox.isEmpty()) {
            contender.working = true;
            EtcdContenderState.Step step = scope.variant.machine.apply(contender.protocol, contender.inbox.remove(0));
            contender.protocol = step.state();
            step.effects().forEach(effect -> perform(i, effect));
            contender.working = false;
            List<Runnable> actions = List.copyOf(contender.actions);
            contender.actions.clear();
            actions.forEach(Runnable::run);
        }
    }

    private void afterwards(int i, Runnable action) {
        contenders.get(i).actions.add(action);
    }

    private void perform(int i, EtcdContenderEffect effect) {
        Contender contender = contenders.get(i);
        ModelledSession session = sessionOf(i);
        if (effect instanceof Plain plain) {
            performPlain(i, plain, session);
        } else if (effect instanceof SendPut send) {
            send(i, ModelledRequest.Kind.PUT, send.epoch(), null, false);
        } else if (effect instanceof SetRevision set) {
            contender.revision = set.revision();
        } else if (effect instanceof SendGiveWay send) {
            send(i, ModelledRequest.Kind.GIVE_WAY, 0, send.ahead(), false);
        } else if (effect instanceof NoteDelivery note) {
            afterwards(i, () -> feed(i, new EtcdContenderEvent.ResultDelivered(note.position())));
        } else if (effect instanceof PassTurn pass) {
            afterwards(i, () -> passTurn(i, pass));
        } else if (effect instanceof SendWithdrawal send) {
            send(i, ModelledRequest.Kind.WITHDRAW, 0, null, send.newEpoch());
        } else if (effect instanceof GrantLease) {
            clientOf(i).sent.add(new Sent(i, contender.incarnation, null, nextDelay++));
        } else if (effect instanceof SendMove send) {
            send(i, ModelledRequest.Kind.MOVE, send.leaseId(), null, send.newEpoch());
        } else if (effect instanceof RevokeLease revoke) {
            endLease(revoke.leaseId());
        } else if (effect instanceof LeaveQueue leave) {
            if (session != null) {
                session.joined.remove(i);
                session.slots.remove(contender.slot);
                session.removals -= leave.removalCounted() ? 1 : 0;
            }
        } else if (effect instanceof ReportGranted report) {
            afterwards(i, () -> granted(i, report.token()));
        } else if (effect instanceof FailAttempt) {
            afterwards(i, () -> attemptEnded(i, CorePhase.RETRYING));
        } else if (effect instanceof ReportEnded report) {
            afterwards(i, () -> ended(i, report.existed()));
        } else if (effect instanceof FailEnd) {
            afterwards(i, () -> {
                if (awaits(i, CorePhase.ENDING)) {
                    contender.core = CorePhase.END_FAILED;
                }
            });
        } else {
            throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void performPlain(int i, Plain effect, @Nullable ModelledSession session) {
        Contender contender = contenders.get(i);
        switch (effect) {
            case JOIN_QUEUE -> join(i);
            case SEND_READ -> send(i, ModelledRequest.Kind.READ, 0, null, false);
            case SEND_CHECK -> send(i, ModelledRequest.Kind.CHECK, 0, null, false);
            case SEND_DELETION -> send(i, ModelledRequest.Kind.DELETE, 0, null, false);
            case SEND_DELETION_IF_OWN -> send(i, ModelledRequest.Kind.DELETE_IF_OWN, 0, null, false);
            case AWAIT_SESSION_REMOVAL -> contender.awaitsSession = true;
            case START_CLEANUP -> contender.cleansUp = true;
            case END_SESSION -> {
                if (session != null) {
                    endSession(contender.client);
                }
            }
            case WAKE_WAITER ->
                afterwards(
                        i,
                        () -> contender.woken |=
                                contender.core == CorePhase.ATTEMPTING || contender.core == CorePhase.WAITING);
            case REPORT_LOSS ->
                afterwards(i, () -> {
                    if (contender.core == CorePhase.HOLDING) {
                        end(i);
                    }
                });
            case REPORT_WAITING -> afterwards(i, () -> attemptEnded(i, CorePhase.WAITING));
            case REPORT_KEY_DELETED, REPORT_SESSION_ENDED -> afterwards(i, () -> displaced(i));
            case FAIL_RESTLESS, FAIL_NOT_SENT -> afterwards(i, () -> attemptEnded(i, CorePhase.RETRYING));
            default -> {
                if (session != null) {
                    performInQueue(i, effect, session);
                } else if (effect == Plain.REQUEST_TURN) {
                    feed(i, new EtcdContenderEvent.InTurn(epoch(i))); // nobody waits for a turn there any more
                }
            }
        }
    }

    private void performInQueue(int i, Plain effect, ModelledSession session) {
        Contender contender = contenders.get(i);
        Member member = new Member(i, contender.revision);
        switch (effect) {
            case REQUEST_TURN -> {
                if (session.maySend(i)) {
                    feed(i, new EtcdContenderEvent.InTurn(session.epoch));
                }
            }
            case RELEASE_TURNS -> afterwards(i, () -> releaseTurns(session));
            case CHANGE_SLOT -> {
                contender.slot = session.addSlot();
                contender.key = contenderKey(session, contender.slot);
            }
            case WATCH_AS_WAITER -> addMember(session, i, member, false);
            case WATCH_AS_HOLDER_LATER ->
                notifying(notify -> contender.deferredWatch = !session.becameHolder(contender.key, member, notify));
            case WATCH_AS_HOLDER -> addMember(session, i, member, true);
            case UNSUBSCRIBE -> {
                contender.deferredWatch = false;
                session.removeMember(contender.key, member);
                afterwards(i, () -> leaveTurns(session, i));
            }
            case COUNT_REMOVAL -> session.removals++;
            case START_KEY_SERIES -> session.series++;
            default -> throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void addMember(ModelledSession session, int i, Member member, boolean holds) {
        boolean opens = session.watch == Watch.NONE;
        notifying(notify -> session.addMember(contenders.get(i).key, member, holds, notify));
        if (opens && has(Flaw.READ_BEFORE_WATCH)) {
            clientOf(i).sent.add(new Sent(-1, 0, null, 0));
        }
    }

    private void join(int i) {
        Contender contender = contenders.get(i);
        Client client = clientOf(i);
        if (client.session.ended) {
            client.session = openSession(contender.client, client.sessions++);
        }
        ModelledSession session = client.session;
        contender.lease = session.lease;
        contender.slot = session.addSlot();
        contender.key = contenderKey(session, contender.slot);
        session.joined.add(i);
        contender.inbox.add(new EtcdContenderEvent.Joined(session.epoch));
    }

    private static String contenderKey(ModelledSession session, int slot) {
        return LOCK + "s" + session.lease + "-" + slot + "." + session.series;
    }

    private String record(int i) {
        Contender contender = contenders.get(i);
        if (contender.record.isEmpty()) {
            contender.record = "#" + i + contender.incarnation;
        }
        return contender.record;
    }

    private void send(int i, ModelledRequest.Kind kind, long number, @Nullable ContenderKey ahead, boolean newEpoch) {
        Contender contender = contenders.get(i);
        Origin origin = new Origin(
                LOCK, contender.key, record(i), "%s" + contender.lease, "s", contender.lease, contender.waits());
        clientOf(i)
                .sent
                .add(new Sent(
                        i,
                        contender.incarnation,
                        new ModelledRequest(kind, origin, contender.revision, number, ahead, newEpoch),
                        0));
    }

    // ---- what the contenders of a client share

    private interface Notifying {
        void run(BiConsumer<Integer, Notification> notify);
    }

    /** Runs a change of a session's queue, then notifies contenders. */
    private void notifying(Notifying change) {
        List<Runnable> notifications = new ArrayList<>();
        change.run((i, what) -> notifications.add(() -> feed(
                i,
                what == Notification.DELETED
                        ? new EtcdContenderEvent.KeyDeleted()
                        : new EtcdContenderEvent.FirstInQueue())));
        notifications.forEach(Runnable::run);
    }

    private void passTurn(int i, PassTurn pass) {
        ModelledSession session = sessionOf(i);
        if (session == null) {
            return;
        }
        long others = pass.position().contenders() - (pass.isLeaving() ? 0 : 1) - session.removals;
        boolean isTaken = pass.position().isFirst() ? !pass.isLeaving() : others > 0;
        session.passTurn(i, isTaken, this::isNeeded, (each, what) -> notifyOfTurn(session, each, what));
    }

    private void releaseTurns(ModelledSession session) {
        if (!session.ended) {
            session.releaseTurns(this::isNeeded, (each, what) -> notifyOfTurn(session, each, what));
        }
    }

    private void leaveTurns(ModelledSession session, int i) {
        if (!session.ended) {
            session.leaveTurns(i, this::isNeeded, (each, what) -> notifyOfTurn(session, each, what));
        }
    }

    private boolean isNeeded(int i) {
        return !contenders.get(i).gaveUp;
    }

    private void notifyOfTurn(ModelledSession session, int i, TurnNotification what) {
        feed(
                i,
                switch (what) {
                    case SEND_NOW -> new EtcdContenderEvent.InTurn(session.epoch);
                    case LOCK_TAKEN -> new EtcdContenderEvent.LockTaken();
                    case NOT_SENT -> new EtcdContenderEvent.NotSent();
                });
    }

    private void registerWatch(int at) {
        Client client = clients.get(at);
        client.session.watch = Watch.REGISTERED;
        if (!has(Flaw.READ_BEFORE_WATCH)) {
            client.sent.add(new Sent(-1, 0, null, 0));
        }
    }

    private void loseWatch(int at) {
        endWatch(at, clients.get(at).session.hasMembers() && !has(Flaw.WATCH_STAYS_CLOSED));
    }

    private void endWatch(int at, boolean reopen) {
        Client client = clients.get(at);
        client.session.endWatch(reopen);
        client.sent.removeIf(sent -> sent.contender < 0);
        client.replies.removeIf(reply -> reply.to.contender < 0);
    }

    /** The client ends its session: leases are lost, then contenders are told. */
    private void endSession(int at) {
        ModelledSession session = clients.get(at).session;
        if (session.ended) {
            return;
        }
        session.deadlinePassed = true; // nobody believes any more
        List<Integer> joined = List.copyOf(session.joined);
        for (int i : joined) {
            if (contenders.get(i).core == CorePhase.HOLDING) {
                end(i);
            }
        }
        endWatch(at, false);
        session.end();
        joined.forEach(i -> feed(i, new EtcdContenderEvent.SessionEnded()));
        session.joined.clear();
    }

    private ModelledSession openSession(int at, int number) {
        ModelledSession session = new ModelledSession(at * 10L + number + 1);
        store = store.withLease(session.lease);
        apply(new EtcdStore.Txn(List.of(), List.of(new EtcdStore.Put(session.key(), "s", session.lease)), List.of()));
        return session;
    }

    // ---- requests

    private Outcome apply(EtcdStore.Txn txn) {
        Outcome outcome = store.apply(txn);
        publish(outcome);
        return outcome;
    }

    private void endLease(long lease) {
        publish(store.revoke(lease));
    }

    private void publish(Outcome outcome) {
        store = outcome.next();
        List<Event> events = outcome.events().stream()
                .filter(event -> event.key().startsWith(LOCK))
                .toList();
        if (!events.isEmpty()) {
            clients.stream()
                    .filter(client -> client.session.watch == Watch.REGISTERED)
                    .forEach(client -> client.session.arriving.add(events));
        }
    }

    private Reply execute(Sent sent) {
        if (sent.request == null) {
            if (sent.grant > 0) {
                store = store.withLease(sent.grant);
                return new Reply(sent, Optional.empty(), null, 0, false);
            }
            return new Reply(sent, Optional.empty(), queueOnly(), 0, false);
        }
        String key = sent.request.from().key();
        EtcdStore.Entry before = store.keys().get(key);
        boolean hadSession = store.keys().containsKey(sent.request.from().sessionKey());
        Outcome outcome = apply(scopedTransaction(sent.request));
        boolean changed = before != null && !before.equals(store.keys().get(key));
        boolean isOwn =
                before != null && before.value().equals(sent.request.from().record());
        if (changed && !isOwn) {
            broken = Optional.of("S05: " + sent + " has removed the key of another contender: " + before);
        }
        if (!hadSession && store.keys().containsKey(sent.request.from().sessionKey())) {
            broken = Optional.of("S08: " + sent + " has put the key of a session that has ended");
        }
        return new Reply(
                sent,
                outcome.result(),
                null,
                sent.isPut() ? store.revision() : 0,
                changed && isOwn && isGrantOrUngranted(sent, before));
    }

    private boolean isGrantOrUngranted(Sent sent, EtcdStore.@Nullable Entry key) {
        long token = contenders.get(sent.contender).token;
        return token == 0 || (key != null && token == key.createRevision());
    }

    /** Returns what a read of the queue shows. */
    private EtcdStore queueOnly() {
        TreeMap<String, EtcdStore.Entry> found = new TreeMap<>();
        store.queue(LOCK).forEach(key -> found.put(key, store.keys().get(key)));
        return new EtcdStore(found, new TreeSet<>(), store.revision());
    }

    private EtcdStore.Txn scopedTransaction(ModelledRequest request) {
        EtcdStore.Txn txn = request.transaction();
        if (request.kind() == ModelledRequest.Kind.MOVE && has(Flaw.MOVE_PUTS_SESSION_KEY)) {
            List<EtcdStore.Op> then = txn.then().stream()
                    .flatMap(op -> op instanceof EtcdStore.Txn inner ? inner.then().stream() : Stream.of(op))
                    .collect(Collectors.toUnmodifiableList());
            return new EtcdStore.Txn(txn.compares(), then, txn.otherwise());
        }
        boolean isFlawed = (request.kind() == ModelledRequest.Kind.PUT && has(Flaw.PUT_IN_ANY_EPOCH))
                || (request.kind() == ModelledRequest.Kind.GIVE_WAY && has(Flaw.GIVE_WAY_WITH_ANY_KEY));
        return isFlawed ? new EtcdStore.Txn(txn.compares().subList(0, 1), txn.then(), txn.otherwise()) : txn;
    }

    private void receive(int at, Reply reply) {
        Client client = clients.get(at);
        Sent to = reply.to;
        if (to.contender < 0) {
            notifying(notify -> client.session.refreshed(Objects.requireNonNull(reply.read), LOCK, notify));
            return;
        }
        Contender contender = contenders.get(to.contender);
        contender.removed = reply.removed && contender.core == CorePhase.ENDING;
        ModelledRequest request = to.request;
        ModelledSession session = sessionOf(to.contender);
        if (request == null) {
            deliver(to, new EtcdContenderEvent.LeaseGranted(to.grant));
        } else if (reply.result.isEmpty()) { // a lease does not exist
            if (session != null && request.kind() != ModelledRequest.Kind.MOVE) {
                endSession(contender.client);
            }
            fail(to, Execution.AT_ANY_TIME);
        } else {
            Result result = reply.result.get();
            Optional<Long> epoch = request.epoch(result);
            if (epoch.isPresent() && epoch.get() == 0) {
                if (session != null) {
                    endSession(contender.client);
                }
                fail(to, Execution.AT_ANY_TIME);
                return;
            }
            if (session != null && epoch.isPresent()) {
                session.epoch = Math.max(session.epoch, epoch.get());
            }
            EtcdContenderEvent event = request.event(result, reply.revision, epoch(to.contender));
            deliver(
                    to,
                    request.kind() == ModelledRequest.Kind.WITHDRAW && has(Flaw.WITHDRAWAL_OF_ANY_KEY)
                            ? new EtcdContenderEvent.Removed(
                                    result.parts().get(0).succeeded())
                            : event);
        }
    }

    private void fail(Sent sent, Execution execution) {
        deliver(
                sent,
                sent.isAcquire() ? new AcquireFailed(execution, FAILURE.get(0)) : new RemovalFailed(FAILURE.get(0)));
    }

    private void deliver(Sent to, EtcdContenderEvent event) {
        if (contenders.get(to.contender).incarnation == to.incarnation) {
            feed(to.contender, event);
        }
    }

    private void cut(int at) {
        Client client = clients.get(at);
        List<Sent> failed = new ArrayList<>();
        client.sent.forEach(sent -> {
            strays.add(sent);
            failed.add(sent);
        });
        client.replies.forEach(reply -> failed.add(reply.to));
        client.sent.clear();
        client.replies.clear();
        if (client.session.watch != Watch.NONE) {
            loseWatch(at);
        }
        failed.stream().filter(sent -> sent.contender >= 0).forEach(sent -> fail(sent, Execution.AT_ANY_TIME));
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        List<Integer> believers = new ArrayList<>(1);
        for (int i = 0; i < contenders.size(); i++) {
            if (believes(i)) {
                believers.add(i);
            }
        }
        if (believers.size() > 1) {
            return Optional.of("S01: contenders " + believers + " hold the lock");
        }
        if (believers.size() == 1 && !has(Flaw.HEAD_IS_NOT_CHECKED) && !isHead(believers.get(0))) {
            return Optional.of(
                    "S01: contender " + believers.get(0) + " holds the lock, and the queue is " + store.queue(LOCK));
        }
        for (int i = 0; i < contenders.size(); i++) {
            ModelledSession session = sessionOf(i);
            if (contenders.get(i).core == CorePhase.DONE && session != null && isKnown(i, session)) {
                return Optional.of("S10: contender " + i + " has ended, and its client still knows it");
            }
        }
        return isFinal() ? leftover() : Optional.empty();
    }

    private boolean isKnown(int i, ModelledSession session) {
        return session.active == i
                || session.turns.contains(i)
                || session.joined.contains(i)
                || session.waiting.values().stream().anyMatch(member -> member.contender() == i)
                || session.holding.values().stream().anyMatch(member -> member.contender() == i)
                || contenders.get(i).deferredWatch;
    }

    private Optional<String> leftover() {
        if (!store.queue(LOCK).isEmpty()) {
            return Optional.of("S08: all contenders have ended, and the queue has " + store.queue(LOCK));
        }
        for (Client client : clients) {
            ModelledSession session = client.session;
            if (!session.ended && session.removals != 0) {
                return Optional.of("S17: all contenders have ended, and removals are counted: " + session.removals);
            }
            // The first slot of a contender that had to change it stays reserved.
        }
        return Optional.empty();
    }

    private boolean isHead(int i) {
        List<String> queue = store.queue(LOCK);
        EtcdStore.Entry head = queue.isEmpty() ? null : store.keys().get(queue.get(0));
        return head != null
                && head.createRevision() == contenders.get(i).token
                && head.value().equals(record(i));
    }

    @Override
    public boolean isFinal() {
        return contenders.stream().allMatch(each -> each.core == CorePhase.DONE)
                && strays.isEmpty()
                && store.leases().stream().noneMatch(lease -> lease >= FIRST_DELAY)
                && clients.stream()
                        .allMatch(client -> client.sent.isEmpty()
                                && client.replies.isEmpty()
                                && client.session.watch == Watch.NONE
                                && (client.session.ended
                                        || (!client.session.deadlinePassed
                                                && store.keys().containsKey(client.session.key()))))
                && store.leases().stream()
                        .allMatch(lease -> clients.get((int) (lease / 10)).session.lease == lease
                                && !clients.get((int) (lease / 10)).session.ended);
    }

    @Override
    public List<String> situations() {
        TreeSet<String> present = new TreeSet<>();
        for (Contender contender : contenders) {
            present.add(contender.protocol.phase().getClass().getSimpleName());
            if (contender.core == CorePhase.HOLDING) {
                present.add("held");
            }
            if (contender.gaveUp && contender.core == CorePhase.DONE) {
                present.add("given up");
            }
            if (contender.incarnation > 0) {
                present.add("displaced");
            }
            if (contender.cleansUp) {
                present.add("cleaned up");
            }
        }
        if (clients.stream().anyMatch(client -> client.session.epoch > 1)) {
            present.add("new epoch");
        }
        if (clients.stream().anyMatch(client -> client.session.series > 0)) {
            present.add("new key series");
        }
        return List.copyOf(present);
    }

    // ---- the key

    @Override
    public void describe(StateKey key) {
        key.list(store.keys().entrySet(), EtcdWorld::describe).numbers(store.leases());
        NavigableSet<Long> revisions = revisions();
        for (Client client : clients) {
            client.session.describe(key.value("\nclient"), revisions);
            key.value(" sent").unordered(client.sent, (into, sent) -> sent.describe(into, hasKnownOrigin(sent)));
            key.value(" replies").unordered(client.replies, (into, reply) -> reply.describe(into));
        }
        key.value("\nlate").unordered(strays, (into, sent) -> sent.describe(into, false));
        key.number(faults.left()).number(revisions.headSet(highestToken, true).size());
        key.participants(contenders.size(), (view, i) -> describe(contenders.get(i), view), (details, i) -> {
            Contender contender = contenders.get(i);
            describe(contender.protocol, details);
            details.number(contender.token).value(contender.key);
            details.number(contender.revision).number(contender.lease);
        });
    }

    /** Returns the revisions of keys that exist or may be granted: only how others compare with them counts. */
    private NavigableSet<Long> revisions() {
        TreeSet<Long> revisions = new TreeSet<>();
        store.queue(LOCK).forEach(key -> revisions.add(store.createRevision(key)));
        contenders.forEach(each -> revisions.add(each.revision));
        clients.forEach(client -> client.replies.forEach(reply -> revisions.add(reply.revision)));
        return revisions;
    }

    private static void describe(EtcdContenderState state, StateKey key) {
        EtcdContenderState.Phase phase = state.phase();
        if (phase instanceof EtcdContenderState.Putting at) {
            key.number(at.epoch()).number(at.rounds());
        } else if (phase instanceof EtcdContenderState.Reading at) {
            key.number(at.rounds());
        } else if (phase instanceof EtcdContenderState.GivingWay at) {
            key.number(at.rounds());
        } else if (phase instanceof EtcdContenderState.Unremoved at) {
            key.flags(at.wasCounted(), at.revision() > 0);
        } else if (phase instanceof EtcdContenderState.Removing at) {
            key.flags(at.wasCounted(), at.revision() > 0);
        } else if (phase instanceof EtcdContenderState.LeasingDelay at) {
            key.flags(at.wasCounted());
        } else if (phase instanceof EtcdContenderState.Moving at) {
            key.flags(at.wasCounted()).number(at.leaseId());
        } else if (phase instanceof EtcdContenderState.SessionOver at) {
            key.flags(at.mayHaveKey());
        }
        key.flags(state.mayHaveKey());
        key.number(state.inDoubt().mayStillExecute() ? state.inDoubt().highestEpoch() : -1);
    }

    private static void describe(StateKey key, Map.Entry<String, EtcdStore.Entry> each) {
        EtcdStore.Entry entry = each.getValue();
        key.value(each.getKey()).value(entry.value()).number(entry.createRevision());
        key.number(entry.lease()).number(each.getKey().startsWith(LOCK) ? 0 : entry.version());
    }

    /** Describes what makes a contender differ from the others, without names and revisions. */
    private static void describe(Contender contender, StateKey key) {
        key.value("\ncontender").number(contender.client).value(contender.kind).number(contender.incarnation);
        key.value(contender.protocol.phase().getClass()).value(contender.core);
        key.flags(
                contender.woken,
                contender.gaveUp,
                contender.revoked,
                contender.deferredWatch,
                contender.awaitsSession,
                contender.cleansUp,
                contender.removed);
    }

    static Scope scope(String clients, String kinds, int faults, Set<Fault> possible, boolean givingUp) {
        List<Integer> digits =
                Arrays.stream(clients.split("")).map(Integer::parseInt).toList();
        return new Scope(digits, kinds, faults, possible, givingUp, Variant.PRODUCTION);
    }
}
