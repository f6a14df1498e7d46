// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.grpc.Status;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.PendingEtcdClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.session.ModelledLeaders.Leader;
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
import java.util.Set;
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
    private static final Duration REQUESTED = Duration.ofSeconds(10);
    private static final Duration NEARLY_HALF =
            ModelledLeaders.GRANTED.multipliedBy(4955).dividedBy(10_000);
    private static final long LEASE = 7;
    private static final Throwable NO_REPLY = new BackendUnavailableException("as planned");
    private static final Throwable LEASE_NOT_FOUND = Status.NOT_FOUND
            .withDescription("etcdserver: requested lease not found")
            .asRuntimeException();

    /**
     * The scope of an exploration.
     *
     * @param renewals how often the client may renew, also before the renewal before has ended
     * @param halfLeases how often time passes
     */
    record Scope(int renewals, int halfLeases, int faults, Set<Fault> possible, Set<Flaw> flaws) {
        Scope with(Flaw... other) {
            return new Scope(renewals, halfLeases, faults, possible, Set.of(other));
        }
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A request gets no reply. It was executed, or is executed at any time, or never. */
        NO_REPLY,
        /** Another leader is elected, of which the one before hears at any time later. */
        LEADER_CHANGE,
        /** An operator revokes the lease, or deletes the key of the session. */
        OPERATOR
    }

    /** A defect of the client, in what passes between it and the cluster, or of the cluster. */
    enum Flaw {
        TERMS_ARE_NOT_COMPARED,
        ANY_LEADER_SERVES_READS,
        DEADLINE_COUNTS_FROM_REPLY,
        DEADLINE_HAS_NO_MARGIN,
        REQUESTED_DURATION_COUNTS,
        LATE_RENEWAL_REVIVES,
        LEASE_NOT_FOUND_ENDS_SESSION,
        REPLACED_LEADER_ENDS_LEASE
    }

    /** A request on its way to a leader, or its reply on the way back. */
    private static final class OnTheWay {
        final PendingEtcdClient.Request request;
        final MonotonicInstant sent;
        final @Nullable OnTheWay after; // whose reply led to it
        final int tries; // of the renewal
        boolean abandoned; // by the client
        long term; // in the reply, to a keepalive before its execution

        @Nullable
        Object reply;

        OnTheWay(PendingEtcdClient.Request request, MonotonicInstant sent, @Nullable OnTheWay after) {
            this.request = request;
            this.sent = sent;
            this.after = after;
            tries = after == null ? 1 : isKeepalive() ? after.tries + 1 : after.tries;
        }

        boolean isKeepalive() {
            return request.method().equals("keepAliveOnce");
        }

        boolean isRenewal() {
            return isKeepalive() || request.method().equals("get");
        }

        /** Returns the keepalive that this read confirms; null if it is another request. */
        @Nullable
        OnTheWay confirmed() {
            boolean confirms = after != null && after.isKeepalive() && after.reply != LEASE_NOT_FOUND;
            return confirms && request.method().equals("get") ? after : null;
        }

        @Override
        public String toString() {
            return request.method() + (tries > 1 ? " of try " + tries : "") + (term > 0 ? " in term " + term : "");
        }
    }

    private final Scope scope;
    private final List<Consumer<SessionRenewalWorld>> steps = new ArrayList<>(); // that led here
    private final ManualClock clock = new ManualClock();
    private final List<Supplier<CompletionStage<?>>> cleanups = new ArrayList<>();
    private final PendingEtcdClient client = new PendingEtcdClient();
    private final EtcdSession session;
    private final ModelledLeaders leaders = new ModelledLeaders();
    private final List<OnTheWay> requests = new ArrayList<>();
    private FaultBudget<Fault> faults;
    private int renewals;
    private int halfLeases;
    private boolean readFollows; // of the session's key, once the one on its way has ended
    private @Nullable OnTheWay replying;
    private MonotonicInstant revivedUntil = new MonotonicInstant(0);
    private boolean tampered; // by an operator
    private boolean lost; // nobody believes any more
    private Optional<String> broken = Optional.empty();

    /** The start: a session that is about to be opened. */
    SessionRenewalWorld(Scope scope) {
        this.scope = scope;
        faults = new FaultBudget<>(scope.faults, scope.possible);
        renewals = scope.renewals;
        halfLeases = scope.halfLeases;
        BackendContext context = PendingEtcdClient.context(clock, Duration.ofSeconds(5), cleanups);
        session = new EtcdSession(client.sender(context, REQUESTED), new EtcdKeyLayout("m/"), context, REQUESTED);
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
            requests.removeIf(OnTheWay::isRenewal);
            leaders.replaced().forEach(leaders::stepDown);
        }
    }

    private void takeRequests() {
        for (PendingEtcdClient.Request request : client.takeAll()) {
            OnTheWay added = new OnTheWay(request, clock.now(), replying);
            requests.add(added);
            readFollows &= !request.method().equals("get") || added.confirmed() != null;
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
        OnTheWay request = requests.get(i);
        if (request.reply != null) {
            next.progress(() -> "the client receives the reply to " + request, recorded(world -> world.receive(i)));
        } else if (request.isKeepalive() && request.term == 0) {
            for (Leader leader : leaders.from(1)) {
                next.progress(
                        () -> "a member in term " + leader.term() + " receives " + request,
                        recorded(world -> world.requests.get(i).term = leader.term()));
            }
        } else {
            boolean anyLeader = request.isKeepalive() || scope.flaws.contains(Flaw.ANY_LEADER_SERVES_READS);
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
            if (scope.flaws.contains(Flaw.REPLACED_LEADER_ENDS_LEASE)
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
        OnTheWay request = requests.get(i);
        request.reply = switch (request.request.method()) {
            case "grant" -> {
                leaders.grantLease(clock.now());
                yield new LeaseGrantResponse(io.etcd.jetcd.api.LeaseGrantResponse.newBuilder()
                        .setID(LEASE)
                        .setTTL(seconds())
                        .build());
            }
            case "commit" -> {
                boolean puts = leaders.hasLease && !leaders.hasKey;
                leaders.hasKey |= puts;
                yield leaders.hasLease
                        ? new TxnResponse(
                                io.etcd.jetcd.api.TxnResponse.newBuilder()
                                        .setSucceeded(puts)
                                        .build(),
                                ByteSequence.EMPTY)
                        : LEASE_NOT_FOUND;
            }
            case "keepAliveOnce" ->
                leaders.renew(leader, clock.now())
                        ? new LeaseKeepAliveResponse(io.etcd.jetcd.api.LeaseKeepAliveResponse.newBuilder()
                                .setHeader(ResponseHeader.newBuilder().setRaftTerm(request.term))
                                .setTTL(seconds())
                                .build())
                        : LEASE_NOT_FOUND;
            case "get" -> read(request, leader);
            case "revoke" -> {
                leaders.endLease();
                yield new LeaseRevokeResponse(io.etcd.jetcd.api.LeaseRevokeResponse.getDefaultInstance());
            }
            default -> throw new IllegalStateException("not in the model: " + request);
        };
        if (request.abandoned) {
            requests.remove(i);
        }
    }

    private long seconds() {
        return (scope.flaws.contains(Flaw.REQUESTED_DURATION_COUNTS) ? REQUESTED : ModelledLeaders.GRANTED).toSeconds();
    }

    private GetResponse read(OnTheWay request, Leader leader) {
        OnTheWay keepalive = request.confirmed();
        boolean isTrusted = keepalive != null && scope.flaws.contains(Flaw.TERMS_ARE_NOT_COMPARED);
        request.term = isTrusted ? keepalive.term : leader.term();
        RangeResponse.Builder found =
                RangeResponse.newBuilder().setHeader(ResponseHeader.newBuilder().setRaftTerm(request.term));
        if (leaders.hasKey || leaders.isReplaced(leader)) {
            found.addKvs(KeyValue.newBuilder()
                    .setKey(ByteString.copyFromUtf8("key"))
                    .setLease(LEASE)
                    .setVersion(1));
        }
        return new GetResponse(found.build(), ByteSequence.EMPTY);
    }

    private void receive(int i) {
        OnTheWay request = requests.remove(i);
        replying = request;
        if (request.reply instanceof Throwable failure) {
            boolean isAwaited = request.isKeepalive() && isOpen();
            readFollows |= isAwaited;
            request.request.response().completeExceptionally(failure);
            if (isAwaited && scope.flaws.contains(Flaw.LEASE_NOT_FOUND_ENDS_SESSION)) {
                session.end(EtcdSession.KEY_DELETED);
            }
            return;
        }
        request.request.response().complete(request.reply);
        OnTheWay keepalive = request.confirmed();
        if (keepalive != null
                && request.reply instanceof GetResponse read
                && !read.getKvs().isEmpty()
                && request.term == keepalive.term) {
            confirm(keepalive);
        }
    }

    /** Adds what a client with a defect makes of a renewal that counts. */
    private void confirm(OnTheWay keepalive) {
        MonotonicInstant now = clock.now();
        EtcdSessionValidity validity = session.validity().orElseThrow();
        if (scope.flaws.contains(Flaw.DEADLINE_COUNTS_FROM_REPLY)) {
            validity.renewed(now, ModelledLeaders.GRANTED);
        }
        if (scope.flaws.contains(Flaw.DEADLINE_HAS_NO_MARGIN)) {
            validity.extend(keepalive.sent.plus(ModelledLeaders.GRANTED));
        }
        if (scope.flaws.contains(Flaw.LATE_RENEWAL_REVIVES)) {
            revivedUntil = LockClock.deadline(keepalive.sent, ModelledLeaders.GRANTED);
        }
    }

    private void abandon(int i) {
        OnTheWay request = requests.get(i);
        replying = request;
        request.abandoned = true;
        request.request.response().completeExceptionally(NO_REPLY);
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
            if (request.reply == LEASE_NOT_FOUND) {
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
        key.unordered(requests, (into, request) -> describe(request, into));
    }

    private void describe(OnTheWay request, StateKey key) {
        key.value(request.request.method()).number(request.tries).flags(request.abandoned);
        key.number(request.term).number(request.sent.until(clock.now()).toMillis());
        key.value(
                request.reply == null ? null : request.reply == LEASE_NOT_FOUND ? "not found" : outcome(request.reply));
        OnTheWay keepalive = request.confirmed();
        if (keepalive != null) {
            key.number(keepalive.term).number(keepalive.sent.until(clock.now()).toMillis());
        }
    }

    private static String outcome(Object reply) {
        return reply instanceof GetResponse read
                ? "found " + read.getKvs().size()
                : reply instanceof TxnResponse put ? "put " + put.isSucceeded() : "done";
    }
}
