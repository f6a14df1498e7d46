// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.grpc.Status;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.PendingEtcdClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.session.ModelledLeaders.Leader;
import io.mortise.lock.etcd.session.SessionRenewalScope.Fault;
import io.mortise.lock.etcd.session.SessionRenewalScope.Flaw;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client's session with its renewals, and an etcd cluster whose leader changes, at one moment. The client is that of production, from
 * the session down to the requests that it sends; the core, which decides when to renew, and the cluster are modelled. Never changed
 * after its step: a copy repeats all that has happened.
 *
 * <p>Time passes in steps of nearly half a lease, so that after two of them the store may have ended a lease whose clock runs 1 % faster.
 */
final class SessionRenewalWorld implements World<SessionRenewalWorld> {
    private static final Duration NEARLY_HALF =
            ModelledLeaders.GRANTED.multipliedBy(4955).dividedBy(10_000);

    private final SessionRenewalScope scope;
    private final List<Consumer<SessionRenewalWorld>> steps = new ArrayList<>(); // that led here
    private final ManualClock clock = new ManualClock();
    private final List<Supplier<CompletionStage<?>>> cleanups = new ArrayList<>();
    private final PendingEtcdClient client = new PendingEtcdClient();
    private final EtcdSession session;
    private final ModelledLeaders leaders = new ModelledLeaders();
    private final List<SessionRequest> requests = new ArrayList<>();
    private FaultBudget<Fault> faults;
    private int renewals;
    private int halfLeases;
    private boolean readFollows; // of the session's key, once the one on its way has ended
    private @Nullable SessionRequest replying;
    private MonotonicInstant revivedUntil = new MonotonicInstant(0);
    private boolean tampered; // by an operator
    private boolean lost; // nobody believes any more
    private Optional<String> broken = Optional.empty();

    /** The start: a session that is about to be opened. */
    SessionRenewalWorld(SessionRenewalScope scope) {
        this.scope = scope;
        faults = new FaultBudget<>(scope.faults(), scope.possible());
        renewals = scope.renewals();
        halfLeases = scope.halfLeases();
        BackendContext context = PendingEtcdClient.context(clock, Duration.ofSeconds(5), cleanups);
        session = new EtcdSession(
                client.sender(context, SessionRequest.REQUESTED),
                new EtcdKeyLayout("m/"),
                context,
                SessionRequest.REQUESTED);
        session.open();
        takeRequests();
    }

    private SessionRenewalWorld(SessionRenewalWorld from) {
        this(from.scope);
        faults = from.faults;
        from.steps.forEach(this::perform);
    }

    private void perform(Consumer<SessionRenewalWorld> step) {
        steps.add(step);
        replying = null;
        step.accept(this);
        takeRequests();
        check();
        if (session.hasEnded()) { // renewals have no effect any more
            requests.removeIf(request -> request.isKeepalive() || request.isRead());
            leaders.replaced().forEach(leaders::stepDown);
        }
    }

    private void takeRequests() {
        for (PendingEtcdClient.Request request : client.takeAll()) {
            SessionRequest added = new SessionRequest(request, clock.now(), replying);
            requests.add(added);
            readFollows &= !added.isRead() || added.confirmed() != null;
        }
    }

    private boolean believes() {
        return (!lost && isValid()) || clock.now().isBefore(revivedUntil);
    }

    private boolean isValid() {
        return session.validity().filter(EtcdSessionValidity::isValid).isPresent();
    }

    private boolean isOpen() {
        return session.validity().isPresent() && !session.hasEnded();
    }

    private void check() {
        boolean believes = believes();
        if (lost && believes) {
            broken = Optional.of("S06: a session that was lost is valid again");
        } else if (believes && !leaders.hasKey && !tampered) {
            broken = Optional.of("S01: the client believes in its session, and the store has deleted it");
        }
        boolean isFalseAlarm = leaders.hasKey
                && session.validity()
                        .flatMap(EtcdSessionValidity::reason)
                        .filter(reason -> reason.detail().equals(EtcdSession.KEY_DELETED))
                        .isPresent();
        if (isFalseAlarm) {
            broken = Optional.of("S07: the client reports that its session was deleted, and the store has it");
        }
        lost |= session.hasEnded() || (session.validity().isPresent() && !isValid());
    }

    // ---- steps

    @Override
    public List<Step<SessionRenewalWorld>> steps() {
        Steps<SessionRenewalWorld, SessionRenewalWorld, Fault> next = new Steps<>(
                faults,
                () -> new SessionRenewalWorld(this),
                world -> world.faults = world.faults.spent(),
                world -> world);
        stepsOfClient(next);
        for (int i = 0; i < requests.size(); i++) {
            stepsOfRequest(i, next);
        }
        stepsOfCluster(next);
        return next.all();
    }

    private static Consumer<SessionRenewalWorld> recorded(Consumer<SessionRenewalWorld> step) {
        return world -> world.perform(step);
    }

    private void stepsOfClient(Steps<SessionRenewalWorld, SessionRenewalWorld, Fault> next) {
        if (isOpen() && isValid() && renewals > 0) {
            next.add(() -> "the client renews", Kind.OPTIONAL, recorded(world -> {
                world.renewals--;
                world.session.validity().orElseThrow().renew();
            }));
        }
        if (isOpen() && !isValid()) {
            next.progress(
                    () -> "the deadline passes",
                    recorded(world -> world.session.validity().orElseThrow().checkDeadline()));
        } else if (!session.hasEnded()) {
            next.progress(
                    () -> "the client closes",
                    recorded(world -> world.session.end(new LossReason(LossReason.Kind.CLIENT_CLOSED, "closed"))));
        }
        if (!cleanups.isEmpty()) {
            next.progress(() -> "the client repeats a cleanup", recorded(SessionRenewalWorld::cleanUp));
        }
        if (halfLeases > 0 && leaders.hasLease && !lost) {
            next.add(() -> "nearly half a lease passes", Kind.OPTIONAL, recorded(world -> {
                world.halfLeases--;
                world.clock.advance(NEARLY_HALF);
            }));
        }
    }

    private void cleanUp() {
        Supplier<CompletionStage<?>> cleanup = cleanups.remove(0);
        cleanup.get().whenComplete((done, failure) -> {
            if (failure != null) {
                cleanups.add(cleanup);
            }
        });
    }

    private void stepsOfRequest(int i, Steps<SessionRenewalWorld, SessionRenewalWorld, Fault> next) {
        SessionRequest request = requests.get(i);
        if (request.reply != null) {
            next.progress(() -> "the client receives the reply to " + request, recorded(world -> world.receive(i)));
        } else if (request.isKeepalive() && request.term == 0) {
            for (Leader leader : leaders.from(1)) {
                next.progress(
                        () -> "a member in term " + leader.term() + " receives " + request,
                        recorded(world -> world.requests.get(i).term = leader.term()));
            }
        } else {
            boolean anyLeader = request.isKeepalive() || scope.has(Flaw.ANY_LEADER_SERVES_READS);
            for (Leader leader : leaders.from(anyLeader ? request.term : leaders.term())) {
                next.add(
                        () -> "the leader of term " + leader.term() + " executes " + request,
                        request.abandoned ? Kind.OPTIONAL : Kind.PROGRESS,
                        recorded(world -> world.execute(i, leader)));
            }
        }
        if (request.abandoned) {
            next.progress(() -> "never executed: " + request, recorded(world -> world.requests.remove(i)));
        } else {
            next.fault(Fault.NO_REPLY, () -> "no reply in time to " + request, recorded(world -> world.abandon(i)));
        }
    }

    private void stepsOfCluster(Steps<SessionRenewalWorld, SessionRenewalWorld, Fault> next) {
        boolean isForgotten = session.hasEnded() && requests.isEmpty() && cleanups.isEmpty() && leaders.hasLease;
        if (leaders.mayEndLease(clock.now()) || isForgotten) { // a long time passes then
            next.progress(() -> "the leader ends the lease", recorded(world -> world.leaders.endLease()));
        }
        for (Leader leader : leaders.replaced()) {
            next.progress(
                    () -> "the leader of term " + leader.term() + " steps down",
                    recorded(world -> world.leaders.stepDown(leader)));
            if (scope.has(Flaw.REPLACED_LEADER_ENDS_LEASE)
                    && leaders.hasLease
                    && !clock.now().isBefore(leader.leaseEnds())) {
                next.progress(() -> "the replaced leader ends the lease", recorded(world -> world.leaders.endLease()));
            }
        }
        if (isOpen() && !lost) {
            next.fault(
                    Fault.LEADER_CHANGE,
                    () -> "another leader is elected",
                    recorded(world -> world.leaders.elect(world.clock.now())));
        }
        if (isOpen() && !lost && leaders.hasKey) {
            next.fault(Fault.OPERATOR, () -> "an operator revokes the lease", recorded(world -> {
                world.tampered = true;
                world.leaders.endLease();
            }));
            next.fault(Fault.OPERATOR, () -> "an operator deletes the key", recorded(world -> {
                world.tampered = true;
                world.leaders.hasKey = false;
            }));
        }
    }

    // ---- requests

    private void execute(int i, Leader leader) {
        SessionRequest request = requests.get(i);
        request.execute(leaders, leader, clock.now(), scope);
        if (request.abandoned) {
            requests.remove(i);
        }
    }

    private void receive(int i) {
        SessionRequest request = requests.remove(i);
        replying = request;
        if (request.reply instanceof Status refusal) {
            boolean isAwaited = request.isKeepalive() && isOpen();
            readFollows |= isAwaited;
            request.request.response().completeExceptionally(refusal.asRuntimeException());
            if (isAwaited && scope.has(Flaw.LEASE_NOT_FOUND_ENDS_SESSION)) {
                session.end(EtcdSession.KEY_DELETED);
            }
            return;
        }
        request.request.response().complete(request.reply);
        SessionRequest keepalive = request.counting();
        if (keepalive != null) {
            confirm(keepalive);
        }
    }

    /** Adds what a client with a defect makes of a renewal that counts. */
    private void confirm(SessionRequest keepalive) {
        MonotonicInstant now = clock.now();
        EtcdSessionValidity validity = session.validity().orElseThrow();
        if (scope.has(Flaw.DEADLINE_COUNTS_FROM_REPLY)) {
            validity.renewed(now, ModelledLeaders.GRANTED);
        }
        if (scope.has(Flaw.DEADLINE_HAS_NO_MARGIN)) {
            validity.extend(keepalive.sent.plus(ModelledLeaders.GRANTED));
        }
        if (scope.has(Flaw.LATE_RENEWAL_REVIVES)) {
            revivedUntil = LockClock.deadline(keepalive.sent, ModelledLeaders.GRANTED);
        }
    }

    private void abandon(int i) {
        SessionRequest request = requests.get(i);
        replying = request;
        request.abandoned = true;
        request.request.response().completeExceptionally(new BackendUnavailableException("as planned"));
        if (request.reply != null) {
            requests.remove(i);
        }
    }

    // ---- what the exploration asks

    @Override
    public Optional<String> violation() {
        return broken;
    }

    @Override
    public boolean isFinal() {
        return session.hasEnded()
                && requests.isEmpty()
                && cleanups.isEmpty()
                && !leaders.hasLease
                && leaders.replaced().isEmpty();
    }

    @Override
    public List<String> situations() {
        List<String> present = new ArrayList<>();
        session.validity().ifPresent(validity -> {
            present.add(validity.isValid() ? "valid" : "lost");
            validity.reason().ifPresent(reason -> present.add(reason.kind().name()));
            if (validity.isValid() && clock.now().nanos() >= 2 * NEARLY_HALF.toNanos()) {
                present.add("renewed");
            }
        });
        requests.forEach(request -> {
            present.add(request.tries > 1 ? "tried again" : request.request.method());
            if (request.isRefused()) {
                present.add("lease not found");
            }
        });
        return present;
    }

    @Override
    public void describe(StateKey key) {
        MonotonicInstant now = clock.now();
        leaders.describe(key, now);
        key.number(faults.left()).number(renewals).number(halfLeases).number(cleanups.size());
        key.flags(session.validity().isPresent(), session.hasEnded(), isValid(), lost, tampered, readFollows);
        key.value(session.validity()
                .flatMap(EtcdSessionValidity::reason)
                .map(LossReason::kind)
                .orElse(null));
        key.number(session.validity()
                .map(validity -> ModelledLeaders.left(validity.validUntil(), now))
                .orElse(0L));
        key.unordered(requests, (into, request) -> request.describe(into, now));
    }
}
