// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.ScriptInterpreter;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redis.RedisGrantHistory.Belief;
import io.mortise.lock.redis.RedisGrantHistory.Cause;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their connections, and the Redis server, at one moment. The state machine
 * and the Lua scripts are those of production; the core and the network are modelled. Only a step changes a world, and only the
 * copy that it has made.
 *
 * <p>Time is the server's clock. It advances by 1 µs with each script, so that tokens differ, and by more than all limits of the
 * protocol in a step of its own. Whether a deadline has passed is a step too: a grant expires only when nobody believes in it.
 * With {@link Option#RENEWAL} deadlines and expiry follow the clock instead, which advances by half a lease in a step.
 */
final class RedisWorld implements World<RedisWorld>, CorePhase.Calls {
    private static final RedisKeyLayout.OfLock KEYS = RedisGrantHistory.KEYS;
    private static final long START = 1_700_000_000_000_000L;

    /** Times of the model. No sum of them equals 0 or a limit in the scripts, and going back never makes up for going on. */
    private static final long REQUEST_TIMEOUT = 20 * StateKey.LONG_GAP_MICROS;

    private static final long LONG_TIME = 200 * StateKey.LONG_GAP_MICROS;
    private static final long CLOCK_STEP = 13 * StateKey.LONG_GAP_MICROS;

    /** The field of the entries that says when an attempt was woken. */
    private static final String WAKE = "wake";

    private static final Duration DELAY = Duration.ofHours(1);
    private static final long LEASE_MILLIS = RedisLeaseTimes.LEASE.toMillis();
    private static final long HALF_LEASE = LEASE_MILLIS * 1_000 / 2;
    private static final long ENTRY_MILLIS = 100 * LEASE_MILLIS; // a waiter's entry never expires by itself
    private static final int HALF_LEASES = 2; // until a lease is over; one more for each renewal at its half
    private static final MonotonicInstant ANY_TIME = new MonotonicInstant(0);
    private static final int MOST_CACHED = 200_000;
    private static final List<?> UNKNOWN = List.of("NOSCRIPT");

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    private static final ScriptInterpreter LUA = new ScriptInterpreter();

    /** The same script is run with the same arguments in many worlds, which differ elsewhere. */
    private static final Map<Run, ScriptOutcome> RESULTS = new HashMap<>();

    private final Scope scope;
    private final boolean timed;
    private final List<Client> clients = new ArrayList<>();
    private final List<Contender> contenders = new ArrayList<>();
    private RedisModel server;
    private RedisGrantHistory grants;
    private long now;
    private List<Request> stray; // requests of lost connections, which may still be executed
    private FaultBudget<Fault> faults;
    private int furtherAcquires;
    private int renewals;
    private int halfLeases;
    private Optional<String> broken = Optional.empty();

    /**
     * The result of a script.
     *
     * @param server the server afterwards, on which nothing expires by itself
     * @param broken the rule that the script has broken, whoever sent it
     */
    private record ScriptOutcome(RedisModel.Result result, RedisModel server, Optional<String> broken) {}

    /** @param timed whether grants expire by the clock */
    private record Run(
            RedisModel server, long now, String script, List<String> keys, List<String> args, boolean timed) {}

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param script returns the text of a script
     * @param flaws what the code around both does wrong
     * @param renewal returns until when a grant is valid after a renewal
     */
    record Variant(
            BiFunction<RedisContenderState, RedisContenderEvent, RedisContenderState.Step> machine,
            Function<RedisLockScript, String> script,
            Set<Flaw> flaws,
            Renewal renewal) {
        static final Variant PRODUCTION = new Variant(
                RedisContenderState::on, script -> script.script().text(), Set.of(), RedisLeaseTimes::renewed);
    }

    /** A defect of the code that performs what the state machine decides. */
    enum Flaw {
        /** A new connection does not wake the contenders, which may have missed messages. */
        NO_WAKE_UP_ON_CONNECT,
        /** Whatever connection there is confirms a grant. */
        CONFIRM_OVER_ANY_CONNECTION,
        /** The script that goes on with the dead entries of the queue names the attempt that was removed. */
        SWEEP_NAMES_ATTEMPT
    }

    /** See {@link RedisLeaseTimes#renewed}. */
    interface Renewal {
        long validUntil(long before, long sent, long now);
    }

    /**
     * The scope of an exploration.
     *
     * @param contenders a character for each contender: the number of its client, or {@code a} for client 0 and so on if it
     *     does not wait
     * @param furtherAcquires how often a client whose contender has ended acquires again, all together
     * @param faults the number of faults
     * @param possible the kinds of faults
     */
    record Scope(
            String contenders,
            int furtherAcquires,
            Set<Option> options,
            int faults,
            Set<Fault> possible,
            Variant variant) {
        @Override
        public String toString() {
            return contenders + "+".repeat(furtherAcquires) + " " + options + " " + faults + " of " + possible;
        }

        static Scope of(String contenders) {
            return new Scope(contenders, 0, Set.of(), 0, Set.of(), Variant.PRODUCTION);
        }

        Scope andAcquires(int more) {
            return new Scope(contenders, more, options, faults, possible, variant);
        }

        Scope with(Option... more) {
            return new Scope(contenders, furtherAcquires, Set.of(more), faults, possible, variant);
        }

        Scope faults(int most, Fault... kinds) {
            return faults(most, kinds.length == 0 ? Set.of() : EnumSet.copyOf(List.of(kinds)));
        }

        Scope faults(int most, Set<Fault> kinds) {
            return new Scope(contenders, furtherAcquires, options, most, kinds, variant);
        }

        Scope with(Variant other) {
            return new Scope(contenders, furtherAcquires, options, faults, possible, other);
        }

        private int clients() {
            return 1
                    + contenders
                            .chars()
                            .map(each -> each % 16 - (each >= 'a' ? 1 : 0))
                            .max()
                            .orElse(0);
        }
    }

    /** An event that may happen besides faults. */
    enum Option {
        /** A holder may also release with a delay. */
        DELAYED_RELEASE,
        /** Replicas or sentinels must confirm each grant that is in a reply. */
        CONFIRMATION,
        /** The lock is held for longer than it is handed off in a row. */
        LONG_HOLDING,
        /** A holder may renew once, and leases end by the clock. */
        RENEWAL,
        /** With {@link #RENEWAL}: it may renew once more. */
        SECOND_RENEWAL,
        /** A script removes one dead queue entry at most, and is run again if there are more. */
        MANY_DEAD
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A connection is lost, with the replies and messages on it. */
        CUT,
        /** With a lost connection: the server executes a request later, also long after its sender has given up. */
        LATE_EXECUTION,
        /** A connection is lost, and the server does not notice: the client seems to be subscribed. */
        HALF_OPEN,
        /** A reply does not come in time. */
        SLOW_REPLY,
        /** The server replies with an error. */
        ERROR_REPLY,
        /** The server does not know the script of a request, which is sent again, behind what was sent meanwhile. */
        UNKNOWN_SCRIPT,
        /** Replicas or sentinels do not confirm a grant. */
        NOT_CONFIRMED,
        /** The token of a grant is out of range. */
        UNUSABLE_TOKEN,
        /** Too little of a lease is left when a hand-off is about to be used. */
        SHORT_VALIDITY,
        /** Somebody publishes the last hand-off message to a contender again. */
        REPLAY,
        /** An operator ends a grant. */
        FORCED_RELEASE,
        /** The server restarts with its data. */
        RESTART,
        /** The server restarts without its data. */
        DATA_LOSS,
        /** The server's clock is set back. */
        CLOCK_SET_BACK,
        /** The server's clock is set forward. */
        CLOCK_SET_FORWARD,
        /** A holder cannot renew, or a reply takes longer than a lease. */
        EXPIRY,
        /** The core gives up a removal that has failed for a whole lease. */
        ABANDONED,
        /** A process dies. */
        DEATH
    }

    /** A process, with the requests, replies and messages on its connection, in order. */
    private static final class Client implements Cloneable {
        boolean alive = true;
        boolean connected = true;
        int epoch = 1;
        /** Whether a reply of this connection's server has told its time. */
        boolean knowsTime = true;

        List<Request> sent = List.of();
        List<Arrival> arriving = List.of();

        /** Returns all requests without a reply that was received, in the order of their timeouts. */
        Stream<Request> unanswered() {
            return Stream.concat(arriving.stream().map(Arrival::request).filter(Objects::nonNull), sent.stream())
                    .sorted(Comparator.comparing(request -> !request.sentAgain));
        }

        Client copy() {
            try {
                return (Client) clone();
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The scripts of a contender. */
    enum Script {
        ACQUIRE,
        REMOVAL,
        DELAYED_RELEASE,
        RENEWAL,
        SWEEP
    }

    /**
     * A request that the server has not executed.
     *
     * @param token the token of the grant that a delayed release is about
     * @param sent when it was sent
     * @param notAfter the server's time after which it refuses an acquire
     * @param awaited whether its sender still waits for the reply
     * @param sentAgain whether it was sent with the text of its script, which the server did not know
     */
    record Request(
            int client,
            int contender,
            Script script,
            boolean withTime,
            long token,
            int epoch,
            long sent,
            long notAfter,
            boolean awaited,
            boolean sentAgain) {
        Request unawaited() {
            return new Request(client, contender, script, withTime, token, epoch, sent, notAfter, false, sentAgain);
        }

        Request again() {
            return new Request(client, contender, script, withTime, token, epoch, sent, notAfter, awaited, true);
        }

        boolean isOnConnectionOf(Request other) {
            return client == other.client && epoch == other.epoch;
        }

        @Override
        public String toString() {
            return script + " of contender " + contender;
        }
    }

    /** A reply, or a message if it has no request. An error reply has no values. */
    record Arrival(@Nullable Request request, List<?> values, String message) {
        boolean isGrant() {
            return request != null
                    && request.script == Script.ACQUIRE
                    && ((values.size() == 1 && values.get(0) instanceof Long)
                            || (values.size() > 1 && values.get(0).equals("granted")));
        }

        @Override
        public String toString() {
            return request == null ? "the message \"" + message + "\"" : "the reply " + values + " to " + request;
        }
    }

    /** The repetition of a removal in the background. */
    enum Cleanup {
        NONE,
        DUE,
        RUNNING
    }

    /** The entry that the last removal of a contender that ends has found in the store. */
    enum Found {
        NOTHING,
        ENTRY,
        GRANT
    }

    /** One contender, and the core's view of it. */
    private static final class Contender implements Cloneable {
        final int client;
        final boolean waits;
        RedisContenderState protocol = RedisContenderState.INITIAL;
        CorePhase core = CorePhase.NEW;
        Cleanup cleanup = Cleanup.NONE;
        boolean woken;
        boolean gaveUp;
        boolean registered;
        /** The token of the grant that the core was told of; 0 if none. */
        long granted;
        /** Whether the core has released with a delay. */
        boolean delayed;

        boolean abandoned;
        /** Whether the time runs after which an abandoned contender has expired. */
        boolean expiring;
        /** The connection of the grant that is being confirmed; 0 if there is none. */
        int confirming;
        /** The connection of the last hand-off message. */
        int messageEpoch;

        String lastMessage = "";
        Found found = Found.NOTHING;
        /** The token of the grant that is believed in; 0 if none. */
        long token;
        /** Until when, where leases end by the clock. */
        long validUntil;

        Contender(int client, boolean waits) {
            this.client = client;
            this.waits = waits;
        }

        Contender copy() {
            try {
                return (Contender) clone();
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Creates the start: contenders that have made no request. */
    RedisWorld(Scope scope) {
        this.scope = scope;
        timed = scope.options.contains(Option.RENEWAL);
        Set<String> channels = new HashSet<>();
        for (int i = 0; i < scope.clients(); i++) {
            clients.add(new Client());
            channels.add(channel(i));
        }
        scope.contenders.chars().forEach(each -> {
            boolean waits = each < 'a';
            contenders.add(new Contender(each - (waits ? '0' : 'a'), waits));
        });
        server = RedisModel.EMPTY.withSubscribed(channels);
        grants = RedisGrantHistory.NONE;
        now = START;
        stray = List.of();
        faults = new FaultBudget<>(scope.faults, scope.possible);
        furtherAcquires = scope.furtherAcquires;
        renewals = !timed ? 0 : scope.options.contains(Option.SECOND_RENEWAL) ? 2 : 1;
        halfLeases = timed ? HALF_LEASES + renewals : 0;
    }

    private RedisWorld(RedisWorld before) {
        scope = before.scope;
        timed = before.timed;
        before.clients.forEach(client -> clients.add(client.copy()));
        before.contenders.forEach(contender -> contenders.add(contender.copy()));
        server = before.server;
        grants = before.grants;
        now = before.now;
        stray = before.stray;
        faults = before.faults;
        furtherAcquires = before.furtherAcquires;
        renewals = before.renewals;
        halfLeases = before.halfLeases;
    }

    private static String channel(int client) {
        return "channel" + client;
    }

    private Client clientOf(Contender contender) {
        return clients.get(contender.client);
    }

    // ---- steps

    @Override
    public List<Step<RedisWorld>> steps() {
        Steps<RedisWorld, RedisWorld, Fault> steps = new Steps<>(
                faults, () -> new RedisWorld(this), next -> next.faults = next.faults.spent(), next -> next);
        for (int i = 0; i < contenders.size(); i++) {
            if (clientOf(contenders.get(i)).alive) {
                stepsOfCore(i, steps);
            }
        }
        for (int i = 0; i < clients.size(); i++) {
            if (clients.get(i).alive) {
                stepsOfClient(i, steps);
            }
        }
        stepsOfNetwork(steps);
        stepsOfServer(steps);
        return steps.all();
    }

    private void stepsOfCore(int i, Steps<RedisWorld, RedisWorld, Fault> steps) {
        Contender contender = contenders.get(i);
        String who = "contender " + i + " ";
        contender.core.addSteps(i, contender.woken, !contender.gaveUp, steps);
        switch (contender.core) {
            case WAITING -> {
                if (contender.protocol.phase() instanceof RedisContenderState.Queued queued
                        && queued.handOff() != null) {
                    steps.fault(
                            Fault.SHORT_VALIDITY,
                            () -> who + "tries again, when too little of the lease is left",
                            next -> next.attempt(i, false));
                }
            }
            case HOLDING -> {
                if (scope.options.contains(Option.DELAYED_RELEASE)) {
                    steps.add(() -> who + "releases with a delay", Kind.OPTIONAL, next -> {
                        next.contenders.get(i).delayed = true;
                        next.end(i);
                    });
                }
                steps.fault(Fault.EXPIRY, () -> who + "does not renew until its deadline", next -> next.end(i));
                if (renewals > 0 && contender.token != 0 && clientOf(contender).connected) {
                    steps.add(() -> who + "renews", Kind.OPTIONAL, next -> {
                        next.renewals--;
                        next.send(i, Script.RENEWAL, false);
                    });
                }
            }
            case END_FAILED -> steps.fault(Fault.ABANDONED, () -> who + "is abandoned", next -> next.abandon(i));
            case DONE -> {
                if (furtherAcquires > 0) {
                    steps.add(() -> "client " + contender.client + " acquires again", Kind.OPTIONAL, next -> {
                        next.furtherAcquires--;
                        next.contenders.add(new Contender(contender.client, true));
                    });
                }
            }
            default -> {}
        }
        if (contender.cleanup == Cleanup.DUE) {
            steps.progress(() -> who + "repeats its removal", next -> {
                next.contenders.get(i).cleanup = Cleanup.RUNNING;
                next.feed(i, new RedisContenderEvent.CleanupDue());
            });
        }
        if (contender.expiring) {
            steps.add(() -> who + "has expired", Kind.FALLBACK, next -> next.expire(i));
        }
        if (contender.confirming != 0) {
            boolean sameConnection = clientOf(contender).epoch == contender.confirming
                    || scope.variant.flaws.contains(Flaw.CONFIRM_OVER_ANY_CONNECTION);
            if (clientOf(contender).connected && sameConnection) {
                steps.progress(
                        () -> "the grant of " + who + "is confirmed",
                        next -> next.confirmed(i, new RedisContenderEvent.Confirmed(ANY_TIME)));
                steps.fault(
                        Fault.NOT_CONFIRMED,
                        () -> "the grant of " + who + "is not confirmed",
                        next -> next.confirmed(i, new RedisContenderEvent.NotConfirmed(NO_REPLY)));
            } else {
                steps.progress(
                        () -> "the grant of " + who + "is not confirmed, since its connection was lost",
                        next -> next.confirmed(i, new RedisContenderEvent.NotConfirmed(NO_REPLY)));
            }
        }
    }

    private void stepsOfClient(int i, Steps<RedisWorld, RedisWorld, Fault> steps) {
        Client client = clients.get(i);
        String who = "client " + i;
        steps.fault(Fault.DEATH, () -> "the process of " + who + " dies", next -> next.die(i));
        if (!client.connected) {
            steps.progress(() -> who + " connects again", next -> next.reconnect(i));
            return;
        }
        if (!client.sent.isEmpty()) {
            Request request = client.sent.get(0);
            steps.progress(() -> "the server executes " + request, next -> {
                next.clients.get(i).sent = tail(client.sent);
                next.execute(request, true);
            });
            steps.fault(Fault.ERROR_REPLY, () -> "the server replies to " + request + " with an error", next -> {
                next.clients.get(i).sent = tail(client.sent);
                next.arrive(i, new Arrival(request, List.of(), ""));
            });
            if (request.awaited && !request.sentAgain) {
                steps.fault(Fault.UNKNOWN_SCRIPT, () -> "the server does not know the script of " + request, next -> {
                    next.clients.get(i).sent = tail(client.sent);
                    next.arrive(i, new Arrival(request, UNKNOWN, ""));
                });
            }
        }
        if (!client.arriving.isEmpty()) {
            Arrival arrival = client.arriving.get(0);
            steps.progress(() -> who + " receives " + arrival, next -> {
                next.clients.get(i).arriving = tail(client.arriving);
                next.receive(i, arrival, true);
            });
            if (arrival.isGrant()) {
                steps.fault(Fault.UNUSABLE_TOKEN, () -> who + " receives a token out of range", next -> {
                    next.clients.get(i).arriving = tail(client.arriving);
                    next.receive(i, arrival, false);
                });
            }
        }
        steps.fault(Fault.CUT, () -> "the connection of " + who + " is cut", next -> next.cut(i, true));
        steps.fault(
                Fault.HALF_OPEN,
                () -> "the connection of " + who + " is lost, and the server does not notice",
                next -> next.cut(i, false));
        if (faults.allows(Fault.SLOW_REPLY)) {
            client.unanswered()
                    .filter(Request::awaited)
                    .findFirst()
                    .ifPresent(request -> steps.fault(
                            Fault.SLOW_REPLY,
                            () -> "the reply to " + request + " does not come in time",
                            next -> next.timeOut(i, request)));
        }
    }

    private void stepsOfNetwork(Steps<RedisWorld, RedisWorld, Fault> steps) {
        for (int i = 0; i < stray.size(); i++) {
            Request request = stray.get(i);
            boolean first = stray.stream().limit(i).noneMatch(request::isOnConnectionOf);
            if (first) {
                int at = i;
                steps.add(() -> "the server executes " + request + " from a lost connection", Kind.OPTIONAL, next -> {
                    List<Request> others = new ArrayList<>(stray);
                    others.remove(at);
                    next.stray = List.copyOf(others);
                    next.execute(request, false);
                });
                steps.add(
                        () -> request + " is lost, and what followed it on its connection",
                        Kind.OPTIONAL,
                        next -> next.stray = stray.stream()
                                .filter(each -> !each.isOnConnectionOf(request))
                                .toList());
            }
        }
        for (int i = 0; i < contenders.size(); i++) {
            Contender contender = contenders.get(i);
            if (!contender.lastMessage.isEmpty() && clientOf(contender).connected) {
                steps.fault(
                        Fault.REPLAY,
                        () -> "somebody publishes \"" + contender.lastMessage + "\" again",
                        next -> next.arrive(contender.client, new Arrival(null, List.of(), contender.lastMessage)));
            }
        }
    }

    private void stepsOfServer(Steps<RedisWorld, RedisWorld, Fault> steps) {
        if (timePasses()) {
            steps.progress(() -> "a long time passes", next -> next.now += LONG_TIME);
        } else if (scope.options.contains(Option.LONG_HOLDING) && rowSince() > now - StateKey.LONG_GAP_MICROS) {
            steps.add(() -> "the lock is held for a long time", Kind.OPTIONAL, next -> next.now += LONG_TIME);
        }
        if (halfLeases > 0 && grants.present() != null && passesHalfLease()) {
            steps.add(() -> "half a lease passes", Kind.OPTIONAL, RedisWorld::passHalfLease);
        }
        steps.fault(Fault.CLOCK_SET_BACK, () -> "the server's clock is set back", next -> next.now -= CLOCK_STEP);
        steps.fault(Fault.CLOCK_SET_FORWARD, () -> "the server's clock is set forward", next -> next.now += LONG_TIME);
        steps.fault(Fault.RESTART, () -> "the server restarts", next -> next.restart(true));
        steps.fault(Fault.DATA_LOSS, () -> "the server restarts without its data", next -> next.restart(false));
        boolean nobodyWaits = haveAllEnded();
        Kind expiry = nobodyWaits ? Kind.PROGRESS : Kind.FALLBACK; // expiry hides no lost message then
        if (nobodyWaits && stored().anyMatch(key -> !key.equals(KEYS.grant()))) {
            steps.add(
                    () -> "the queue expires",
                    expiry,
                    next -> next.server = next.server
                            .run(now, "DEL", KEYS.queue(), KEYS.entries())
                            .next());
        }
        RedisGrantHistory.Grant grant = grants.present();
        if (grant == null) {
            return;
        }
        if (grant.kept()) {
            steps.add(() -> "the delay of a release has passed", expiry, RedisWorld::expireGrant);
        } else {
            Contender contender = contenders.get(grant.contender());
            boolean expected = contender.abandoned || !clientOf(contender).alive;
            String label = "the grant of contender " + grant.contender() + " expires";
            if (expected) {
                steps.add(() -> label, expiry, RedisWorld::expireGrant);
            } else if (contender.token == 0) {
                steps.fault(Fault.EXPIRY, () -> label, RedisWorld::expireGrant);
            }
        }
        steps.fault(
                Fault.FORCED_RELEASE,
                () -> "an operator ends the grant of contender " + grant.contender(),
                RedisWorld::force);
    }

    /** Returns whether half a lease passes: all requests but renewals have an outcome, and somebody believes, or a renewal is late. */
    private boolean passesHalfLease() {
        List<Request> unanswered = clients.stream().flatMap(Client::unanswered).toList();
        return unanswered.stream().allMatch(request -> request.script == Script.RENEWAL || !request.awaited)
                && (!unanswered.isEmpty()
                        || !stray.isEmpty()
                        || contenders.stream().anyMatch(contender -> contender.token != 0));
    }

    private void passHalfLease() {
        halfLeases--;
        now += HALF_LEASE;
        for (Contender contender : contenders) {
            if (contender.validUntil <= now) {
                contender.token = 0;
            }
        }
        StoredValue grant = Objects.requireNonNull(server.keys().get(KEYS.grant()));
        if (grant.expiresAt().orElseThrow() <= now / 1000) {
            int holder = Objects.requireNonNull(grants.present()).contender();
            long believedIn = contenders.get(holder).token;
            expireGrant();
            contenders.get(holder).token = believedIn; // not right any more
        }
    }

    /** Returns whether time passes in which nothing else happens, until a late request is refused or a woken waiter is too. */
    private boolean timePasses() {
        boolean mayBeLate = wokenAt() > now - REQUEST_TIMEOUT;
        for (Contender contender : contenders) {
            InDoubtRequests inDoubt = contender.protocol.inDoubt();
            mayBeLate |= inDoubt.mayStillExecute() && inDoubt.notAfter() >= now;
        }
        for (Request request : stray) {
            mayBeLate |= request.notAfter >= now;
        }
        return mayBeLate
                && clients.stream()
                        .flatMap(Client::unanswered)
                        .noneMatch(request -> request.awaited && request.script == Script.ACQUIRE);
    }

    private long wokenAt() {
        return server.keys().get(KEYS.entries()) instanceof StoredValue.Hash hash
                        && hash.fields().containsKey(WAKE)
                ? Long.parseLong(hash.fields().get(WAKE))
                : 0;
    }

    /** Returns when the first hand-off of the present row took place; 0 if there is none, or nobody waits. */
    private long rowSince() {
        String grant = server.keys().get(KEYS.grant()) instanceof StoredValue.Text text ? text.text() : "";
        int row = grant.indexOf(" row=");
        return row < 0 || !server.keys().containsKey(KEYS.queue())
                ? 0
                : Long.parseLong(grant.substring(grant.indexOf(':', row) + 1));
    }

    private static <T> List<T> tail(List<T> list) {
        return List.copyOf(list.subList(1, list.size()));
    }

    private static <T> List<T> with(List<T> list, T more) {
        List<T> all = new ArrayList<>(list);
        all.add(more);
        return List.copyOf(all);
    }

    // ---- the core

    @Override
    public void attempt(int i) {
        attempt(i, true);
    }

    /** @param usable whether enough of a lease that was handed off is left */
    private void attempt(int i, boolean usable) {
        Contender contender = contenders.get(i);
        contender.core = CorePhase.ATTEMPTING;
        contender.woken = false;
        handOffsAreUsable = usable;
        feed(i, new RedisContenderEvent.Attempt(clientOf(contender).epoch));
    }

    private boolean handOffsAreUsable; // during a step

    @Override
    public void release(int i) {
        end(i);
    }

    @Override
    public void end(int i) {
        Contender contender = contenders.get(i);
        contender.core = CorePhase.ENDING;
        contender.token = 0;
        contender.validUntil = 0;
        contender.found = Found.NOTHING;
        grants = grants.forget(i);
        feed(i, contender.delayed ? new RedisContenderEvent.EndAfter(DELAY) : new RedisContenderEvent.End());
    }

    @Override
    public void giveUp(int i) {
        Contender contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != CorePhase.ATTEMPTING) {
            end(i);
        }
    }

    private void abandon(int i) {
        contenders.get(i).core = CorePhase.DONE;
        contenders.get(i).abandoned = true;
        feed(i, new RedisContenderEvent.Abandon());
    }

    private void expire(int i) {
        contenders.get(i).expiring = false;
        if (grants.isGrantedTo(i)) {
            expireGrant();
        }
        server = server.run(now, "ZREM", KEYS.queue(), RedisGrantHistory.attemptId(i))
                .next();
        server = server.run(now, "HDEL", KEYS.entries(), RedisGrantHistory.attemptId(i))
                .next();
        feed(i, new RedisContenderEvent.Expired());
    }

    private void confirmed(int i, RedisContenderEvent outcome) {
        Contender contender = contenders.get(i);
        contender.confirming = 0;
        if (outcome instanceof RedisContenderEvent.Confirmed
                && contender.protocol.phase() instanceof RedisContenderState.Confirming grant
                && grants.isLost(i, grant.token())) {
            broken = Optional.of("S01: a server without its data confirms token " + grant.token());
        }
        feed(i, outcome);
    }

    private void attemptEnded(int i, CorePhase then) {
        Contender contender = contenders.get(i);
        expect(i, CorePhase.ATTEMPTING);
        contender.core = then;
        if (contender.gaveUp || !contender.waits) {
            end(i);
        }
    }

    private void granted(int i, long token, MonotonicInstant validUntil) {
        expect(i, CorePhase.ATTEMPTING);
        Contender contender = contenders.get(i);
        contender.granted = token;
        Belief belief = grants.beliefIn(i, token);
        if (timed && belief != Belief.WRONG) {
            contender.validUntil = validUntil.nanos();
            boolean inTime = now < contender.validUntil;
            belief = !inTime ? Belief.REFUSED : belief == Belief.REFUSED ? Belief.WRONG : belief;
        }
        if (belief == Belief.WRONG) {
            broken = Optional.of("S01: contender " + i + " believes in token " + token + ", and the store has "
                    + grants.present() + " and had " + grants.ended());
        }
        if (contender.gaveUp || belief == Belief.REFUSED) {
            end(i);
            return;
        }
        contender.core = CorePhase.HOLDING;
        contender.token = belief == Belief.RIGHT ? token : 0;
        grants = grants.forget(i);
    }

    private void ended(int i, boolean existed) {
        expect(i, CorePhase.ENDING);
        Contender contender = contenders.get(i);
        boolean found = contender.found == Found.GRANT || (contender.found == Found.ENTRY && contender.granted == 0);
        if (existed != found) {
            broken = Optional.of(
                    "S05: the end of contender " + i + " says " + existed + ", and the store had " + contender.found);
        }
        contender.found = Found.NOTHING;
        contender.core = CorePhase.DONE;
    }

    private void expect(int i, CorePhase expected) {
        if (contenders.get(i).core != expected) {
            throw new IllegalStateException("SPI: an outcome for contender " + i + " while " + contenders.get(i).core);
        }
    }

    // ---- the state machine

    private void feed(int i, RedisContenderEvent event) {
        RedisContenderState.Step step = scope.variant.machine.apply(contenders.get(i).protocol, event);
        contenders.get(i).protocol = step.state();
        step.effects().forEach(effect -> perform(i, effect));
    }

    private void perform(int i, RedisContenderEffect effect) {
        Contender contender = contenders.get(i);
        if (effect instanceof RedisContenderEffect.Plain plain) {
            performPlain(i, plain);
        } else if (effect instanceof RedisContenderEffect.SendRemoval removal) {
            send(i, Script.REMOVAL, removal.withTime());
        } else if (effect instanceof RedisContenderEffect.SendDelayedRelease release) {
            send(i, Script.DELAYED_RELEASE, true, release.token());
        } else if (effect instanceof RedisContenderEffect.CheckHandOff check) {
            if (contender.messageEpoch != check.queued().epoch()) {
                broken = Optional.of("S02: the deadline of contender " + i + " comes from two servers' clocks");
            }
            OptionalLong until = !timed
                    ? OptionalLong.of(ANY_TIME.nanos())
                    : RedisLeaseTimes.handedOff(check.queued(), check.handOff(), now);
            boolean inTime = timed || grants.beliefIn(i, check.handOff().token()) != Belief.REFUSED;
            feed(
                    i,
                    inTime && handOffsAreUsable && until.isPresent()
                            ? new RedisContenderEvent.HandOffUsable(new MonotonicInstant(until.getAsLong()))
                            : new RedisContenderEvent.HandOffUnusable());
        } else if (effect instanceof RedisContenderEffect.Confirm confirm) {
            contender.confirming = confirm.epoch();
        } else if (effect instanceof RedisContenderEffect.ReportGranted report) {
            granted(i, report.token(), report.validUntil());
        } else if (effect instanceof RedisContenderEffect.ReportBusy) {
            attemptEnded(i, CorePhase.WAITING);
        } else if (effect instanceof RedisContenderEffect.FailAttempt) {
            attemptEnded(i, CorePhase.RETRYING);
        } else if (effect instanceof RedisContenderEffect.ReportEnded report) {
            ended(i, report.existed());
        } else if (effect instanceof RedisContenderEffect.FailEnd) {
            expect(i, CorePhase.ENDING);
            contender.core = CorePhase.END_FAILED;
            contender.found = Found.NOTHING;
        } else if (effect instanceof RedisContenderEffect.FailCleanup) {
            contender.cleanup = Cleanup.DUE;
        } else {
            throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void performPlain(int i, RedisContenderEffect.Plain effect) {
        Contender contender = contenders.get(i);
        switch (effect) {
            case SEND_ACQUIRE -> {
                contender.registered = contender.waits;
                send(i, Script.ACQUIRE, true);
            }
            case FAIL_LATE_ATTEMPT -> attemptEnded(i, CorePhase.RETRYING);
            case REPORT_DISPLACED -> {
                expect(i, CorePhase.ATTEMPTING);
                contender.core = CorePhase.DONE;
                grants = grants.forget(i);
                if (!contender.gaveUp) {
                    contenders.add(new Contender(contender.client, contender.waits));
                }
            }
            case WAKE_WAITER ->
                contender.woken = contender.core == CorePhase.ATTEMPTING || contender.core == CorePhase.WAITING;
            case UNREGISTER -> {
                contender.registered = false;
                contender.lastMessage = "";
            }
            case START_CLEANUP, REPEAT_CLEANUP -> contender.cleanup = Cleanup.DUE;
            case COMPLETE_CLEANUP -> contender.cleanup = Cleanup.NONE;
            case AWAIT_EXPIRY -> contender.expiring = true;
        }
    }

    // ---- the network

    private void send(int i, Script script, boolean withTime) {
        send(i, script, withTime, 0);
    }

    private void send(int i, Script script, boolean withTime, long token) {
        int at = contenders.get(i).client;
        Client client = clients.get(at);
        long latest = client.knowsTime ? now : ServerTime.UNKNOWN.micros();
        Request request = new Request(
                at, i, script, withTime, token, client.epoch, now, latest + REQUEST_TIMEOUT, script != Script.SWEEP, false);
        if (client.connected) {
            client.sent = with(client.sent, request);
        } else {
            fail(request, true);
        }
    }

    private void fail(Request request, boolean notExecuted) {
        switch (request.script) {
            case ACQUIRE -> {
                int sentIn = request.sentAgain ? InDoubtRequests.OUT_OF_ORDER : request.epoch;
                feed(
                        request.contender,
                        new RedisContenderEvent.AcquireFailed(
                                notExecuted, sentIn, new ServerTime(request.notAfter), NO_REPLY));
            }
            case REMOVAL -> feed(request.contender, new RedisContenderEvent.RemovalFailed(notExecuted, NO_REPLY));
            case DELAYED_RELEASE -> feed(request.contender, new RedisContenderEvent.DelayFailed(NO_REPLY));
            default -> {}
        }
    }

    private void timeOut(int at, Request request) {
        Client client = clients.get(at);
        client.sent = client.sent.stream()
                .map(each -> each.equals(request) ? each.unawaited() : each)
                .toList();
        client.arriving = client.arriving.stream()
                .filter(each -> !request.equals(each.request))
                .toList();
        fail(request, false);
    }

    /** The server may still execute what was sent; replies and messages are lost. */
    private void cut(int at, boolean noticed) {
        Client client = clients.get(at);
        List<Request> unanswered = client.unanswered().filter(Request::awaited).toList();
        if (scope.possible.contains(Fault.LATE_EXECUTION)) {
            client.sent.forEach(request -> stray = with(stray, request.unawaited()));
        }
        client.connected = false;
        client.knowsTime = false;
        client.sent = List.of();
        client.arriving = List.of();
        if (noticed) {
            Set<String> subscribed = new HashSet<>(server.subscribed());
            subscribed.remove(channel(at));
            server = server.withSubscribed(subscribed);
        }
        unanswered.forEach(request -> fail(request, false));
    }

    private void die(int at) {
        cut(at, true);
        clients.get(at).alive = false;
        for (int i = 0; i < contenders.size(); i++) {
            if (contenders.get(i).client == at) {
                Contender dead = new Contender(at, contenders.get(i).waits);
                dead.core = CorePhase.DONE;
                contenders.set(i, dead);
                grants = grants.forget(i);
            }
        }
    }

    private void reconnect(int at) {
        Client client = clients.get(at);
        client.connected = true;
        client.epoch++;
        Set<String> subscribed = new HashSet<>(server.subscribed());
        subscribed.add(channel(at));
        server = server.withSubscribed(subscribed);
        for (int i = 0; i < contenders.size(); i++) {
            Contender contender = contenders.get(i);
            if (contender.client == at
                    && contender.registered
                    && !scope.variant.flaws.contains(Flaw.NO_WAKE_UP_ON_CONNECT)) {
                feed(i, new RedisContenderEvent.Woken());
            }
        }
    }

    /** @param plausible whether a token is in range */
    private void receive(int at, Arrival arrival, boolean plausible) {
        Request request = arrival.request;
        if (request == null) {
            receiveMessage(at, arrival.message);
            return;
        }
        if (!request.awaited) {
            return;
        }
        if (arrival.values.equals(UNKNOWN)) {
            clients.get(at).sent = with(clients.get(at).sent, request.again());
            return;
        }
        if (arrival.values.isEmpty()) {
            fail(request, true);
            return;
        }
        int i = request.contender;
        int epoch = clients.get(at).epoch;
        List<?> values = arrival.values;
        if (request.script == Script.REMOVAL) {
            if (values.size() > 3) {
                send(i, Script.SWEEP, true);
            }
            feed(
                    i,
                    new RedisContenderEvent.Removed(
                            epoch,
                            values.size() > 2 ? new ServerTime((Long) values.get(2)) : ServerTime.UNKNOWN,
                            values.get(0).equals(1L),
                            values.size() > 1 && values.get(1).equals(1L)));
            return;
        }
        if (request.script == Script.RENEWAL) {
            renewed(request, values.get(0).equals(1L));
            return;
        }
        ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
        if (request.script == Script.DELAYED_RELEASE) {
            feed(i, new RedisContenderEvent.Delayed(epoch, time, values.get(0).equals(1L)));
            return;
        }
        clients.get(at).knowsTime = true;
        if (!plausible) {
            feed(i, new RedisContenderEvent.GrantedUnusable(epoch, time, NO_REPLY));
        } else if (arrival.isGrant()) {
            long token = values.size() == 1 ? time.micros() : (Long) values.get(1);
            boolean unconfirmed = scope.options.contains(Option.CONFIRMATION);
            MonotonicInstant until = instant(RedisLeaseTimes.granted(request.sent));
            feed(i, new RedisContenderEvent.Granted(epoch, time, token, instant(request.sent), until, unconfirmed));
        } else if (values.get(0).equals("busy")) {
            boolean waits = contenders.get(i).waits;
            feed(i, new RedisContenderEvent.Busy(epoch, time, instant(request.sent), waits, 0));
        } else {
            feed(i, new RedisContenderEvent.Late(epoch, time));
        }
    }

    /** Tells the core of the reply to a renewal, which it ignores once it has begun to release. */
    private void renewed(Request request, boolean held) {
        Contender contender = contenders.get(request.contender);
        if (contender.core != CorePhase.HOLDING) {
            return;
        }
        if (!held) {
            contender.token = 0;
            return;
        }
        long until = scope.variant.renewal.validUntil(contender.validUntil, request.sent, now);
        if (contender.validUntil <= now && now < until) {
            broken = Optional.of("S06: contender " + request.contender + " holds a lost lease again");
        }
        contender.validUntil = until;
    }

    /** Returns a time for the state machine, which counts only where leases end by the clock. */
    private MonotonicInstant instant(long micros) {
        return timed ? new MonotonicInstant(micros) : ANY_TIME;
    }

    private void receiveMessage(int at, String text) {
        String[] parts = text.split(" ", -1);
        int i = RedisGrantHistory.contender(parts[1]);
        Contender contender = contenders.get(i);
        if (!contender.registered) {
            return;
        }
        if (parts[0].equals("W")) {
            feed(i, new RedisContenderEvent.Woken());
            return;
        }
        contender.messageEpoch = clients.get(at).epoch;
        feed(
                i,
                new RedisContenderEvent.HandedOff(
                        clients.get(at).epoch,
                        Long.parseLong(parts[2]),
                        new ServerTime(Long.parseLong(parts[3])),
                        instant(now)));
    }

    private void arrive(int at, Arrival arrival) {
        Client client = clients.get(at);
        if (client.connected && (arrival.request == null || arrival.request.awaited)) {
            client.arriving = with(client.arriving, arrival);
        }
    }

    // ---- the server

    /** @param connected whether the request came on the present connection of its client, which takes the reply */
    private void execute(Request request, boolean connected) {
        String attempt = RedisGrantHistory.attemptId(request.contender);
        Contender contender = contenders.get(request.contender);
        RedisModel before = server;
        if (connected && request.awaited && contender.core == CorePhase.ENDING) {
            contender.found = found(request);
        }
        RedisModel.Result result = switch (request.script) {
            case ACQUIRE ->
                run(
                        RedisLockScript.ACQUIRE,
                        attempt,
                        attempt + " record",
                        String.valueOf(LEASE_MILLIS),
                        String.valueOf(request.notAfter),
                        contender.waits ? channel(contender.client) : "",
                        String.valueOf(ENTRY_MILLIS),
                        "nonce");
            case DELAYED_RELEASE ->
                run(
                        RedisLockScript.RELEASE_AFTER,
                        attempt,
                        String.valueOf(DELAY.toMillis()),
                        String.valueOf(request.token));
            case REMOVAL -> run(RedisLockScript.RELEASE, attempt, request.withTime ? "1" : "0");
            case RENEWAL -> run(RedisLockScript.RENEW, attempt, String.valueOf(LEASE_MILLIS));
            case SWEEP -> run(RedisLockScript.RELEASE, sweepsAs(attempt), "1");
        };
        grants = grants.executed(
                request,
                before,
                result.next(),
                now / 1000 + DELAY.toMillis(),
                each -> server.subscribed().contains(channel(contenders.get(each).client)));
        List<?> values =
                result.reply() instanceof List<?> list ? list : List.of(Objects.requireNonNull(result.reply()));
        boolean isRight = grants.broken().isEmpty();
        if (request.script == Script.RENEWAL
                && isRight
                && values.get(0).equals(1L) != grants.isGrantedTo(request.contender)) {
            broken = Optional.of("S07: the reply to " + request + " is " + values + " with " + grants.present());
        }
        if (connected) {
            arrive(contender.client, new Arrival(request, values, ""));
            if (values.get(0).equals("busy")) {
                grants = grants.busy(request.contender);
            }
        }
    }

    /** Returns an id with which a script removes nothing, and serves waiters. */
    private String sweepsAs(String attempt) {
        return scope.variant.flaws.contains(Flaw.SWEEP_NAMES_ATTEMPT) ? attempt : attempt + "-";
    }

    private Found found(Request request) {
        int i = request.contender;
        boolean isGranted =
                request.script == Script.DELAYED_RELEASE ? grants.isNamedBy(request) : grants.isGrantedTo(i);
        if (isGranted) {
            return Found.GRANT;
        }
        return RedisGrantHistory.queueIn(server).anyMatch(each -> each == i) ? Found.ENTRY : Found.NOTHING;
    }

    private void force() {
        String value = ((StoredValue.Text) Objects.requireNonNull(server.keys().get(KEYS.grant()))).text();
        run(RedisLockScript.FORCE_RELEASE, value);
        grantEnded(Cause.UNNOTICED);
    }

    private void expireGrant() {
        server = server.run(now, "DEL", KEYS.grant()).next();
        grantEnded(Cause.EXPIRY);
    }

    private void grantEnded(Cause cause) {
        int holder = Objects.requireNonNull(grants.present()).contender();
        contenders.get(holder).token = 0; // whether the loss is noticed is not explored here
        grants = grants.ended(cause, contenders.get(holder).core.isAcquiring(), server);
    }

    private void restart(boolean withData) {
        for (int i = 0; i < clients.size(); i++) {
            if (clients.get(i).connected) {
                cut(i, true);
            }
        }
        stray = List.of();
        if (withData) {
            server = server.withSubscribed(Set.of());
            return;
        }
        server = RedisModel.EMPTY;
        now = Math.max(now, grants.highestToken()) + LONG_TIME; // the clock is wrong by less than that
        if (grants.present() != null) {
            grantEnded(Cause.DATA_LOSS);
        }
    }

    private RedisModel.Result run(RedisLockScript script, String... args) {
        now++;
        List<String> keys = script == RedisLockScript.RENEW ? List.of(KEYS.grant()) : List.of(KEYS.all());
        String lua = scope.variant.script.apply(script);
        if (scope.options.contains(Option.MANY_DEAD)) {
            lua = lua.replace("STEP = 1000, 100", "STEP = 1, 1");
        }
        Run run = new Run(server, now, lua, keys, List.of(args), timed);
        if (RESULTS.size() > MOST_CACHED) {
            RESULTS.clear();
        }
        ScriptOutcome executed = RESULTS.computeIfAbsent(run, RedisWorld::execute);
        RedisModel.Result result = executed.result;
        server = executed.server;
        broken = broken.or(() -> executed.broken);
        for (RedisModel.Message message : result.published()) {
            String text = withoutSignature(message.text());
            if (text.startsWith("G") && scope.possible.contains(Fault.REPLAY)) {
                contenders.get(RedisGrantHistory.contender(text.split(" ", -1)[1])).lastMessage = text;
            }
            arrive(
                    Integer.parseInt(message.channel().substring("channel".length())),
                    new Arrival(null, List.of(), text));
        }
        return result;
    }

    private static ScriptOutcome execute(Run run) {
        RedisModel.Result result = LUA.run(run.server, run.now, run.script, run.keys, run.args);
        RedisModel next = result.next();
        RedisModel lasting = run.timed ? next.withoutExpiry(KEYS.grant()) : next.withoutExpiry();
        return new ScriptOutcome(result, lasting, leak(run.server, next));
    }

    /** Returns whether a script has written what stays for ever. */
    private static Optional<String> leak(RedisModel before, RedisModel after) {
        for (String key : List.of(KEYS.grant(), KEYS.queue(), KEYS.entries())) {
            StoredValue value = after.keys().get(key);
            StoredValue old = before.keys().get(key);
            boolean isWritten = old == null || (value instanceof StoredValue.Text && !value.equals(old));
            if (value != null && isWritten && value.expiresAt().isEmpty()) {
                return Optional.of("S17: " + key + " never expires");
            }
        }
        Set<String> entries = new HashSet<>(RedisGrantHistory.entriesIn(after));
        entries.remove(WAKE);
        return RedisGrantHistory.queuedIn(after).equals(entries)
                ? Optional.empty()
                : Optional.of("S17: " + RedisGrantHistory.queuedIn(after) + " are queued, and there are entries of "
                        + entries);
    }

    private static String withoutSignature(String message) {
        String[] parts = message.split(" ", -1);
        return String.join(" ", List.of(parts).subList(0, parts[0].equals("W") ? 2 : 4));
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        if (grants.broken().isPresent()) {
            return grants.broken();
        }
        if (haveAllEnded()
                && contenders.stream().allMatch(each -> clientOf(each).alive && !each.abandoned)
                && !stored().allMatch(key -> key.equals(KEYS.grant()) && grants.isKept())) {
            return Optional.of("S08: all have ended, and the store has " + server.keys());
        }
        int believer = -1;
        for (int i = 0; i < contenders.size(); i++) {
            Contender contender = contenders.get(i);
            if (contender.token != 0) {
                if (believer >= 0) {
                    return Optional.of("S01: contenders " + believer + " and " + i + " hold the lock");
                }
                believer = i;
                if (grants.beliefIn(i, contender.token) != Belief.RIGHT) {
                    return Optional.of(
                            "S01: contender " + i + " holds the lock, and the store has " + grants.present());
                }
            }
            RedisContenderState.Phase phase = contender.protocol.phase();
            boolean hasNothing = phase instanceof RedisContenderState.Gone
                    || (phase instanceof RedisContenderState.Idle
                            && !contender.protocol.inDoubt().mayStillExecute());
            if (hasNothing && clientOf(contender).alive && !contender.abandoned && grants.isStored(i, server)) {
                return Optional.of("S08: contender " + i + " is " + phase + ", and the store has something of it");
            }
        }
        return Optional.empty();
    }

    /** After expiry, the store has nothing of anybody. */
    @Override
    public boolean isFinal() {
        return haveAllEnded() && stored().findAny().isEmpty();
    }

    /** Returns the keys in the store but the counter of tokens. */
    private Stream<String> stored() {
        return server.keys().keySet().stream().filter(key -> !key.equals(KEYS.counter()));
    }

    private boolean haveAllEnded() {
        for (Contender contender : contenders) {
            if (contender.core != CorePhase.DONE || contender.cleanup != Cleanup.NONE || contender.expiring) {
                return false;
            }
        }
        return clients.stream()
                .allMatch(client ->
                        !client.alive || (client.sent.isEmpty() && client.arriving.isEmpty() && client.connected));
    }

    @Override
    public List<String> situations() {
        Set<String> present = new HashSet<>();
        for (int i = 0; i < contenders.size(); i++) {
            situationsOf(i, present);
        }
        if (grants.isKept()) {
            present.add("kept for a delay");
        }
        if (wokenAt() > 0) {
            present.add("left free for a woken waiter");
        }
        if (grants.present() != null
                && !clientOf(contenders.get(grants.present().contender())).alive) {
            present.add("granted to a dead client");
        }
        if (grants.ended().stream().anyMatch(each -> each.cause() == Cause.EXPIRY)) {
            present.add("a grant expires before it is used");
        }
        if (now < grants.highestToken()) {
            present.add("the clock is behind the tokens");
        }
        if (clients.stream().noneMatch(client -> client.connected)) {
            present.add("nobody is connected");
        }
        return List.copyOf(present);
    }

    private void situationsOf(int i, Set<String> present) {
        Contender contender = contenders.get(i);
        RedisContenderState.Phase phase = contender.protocol.phase();
        present.add(phase.getClass().getSimpleName());
        if (contender.core == CorePhase.DONE) {
            if (contender.gaveUp) {
                present.add("given up");
            }
            if (phase instanceof RedisContenderState.CleaningUp && grants.isStored(i, server)) {
                present.add("an acquire is executed after the end");
            }
        } else if (contender.core == CorePhase.HOLDING) {
            if (contender.token == 0) {
                present.add("lost");
            } else if (contender.validUntil > RedisLeaseTimes.granted(contender.token)) {
                present.add("renewed");
            }
        } else if (phase instanceof RedisContenderState.Requesting requesting) {
            if (clientOf(contender).sent.stream().anyMatch(request -> request.sentAgain && request.contender == i)) {
                present.add("a request is sent with its script");
            }
            if (requesting.triesLeft() < RedisContenderState.MOST_TRIES) {
                present.add("a late acquire is sent again");
            }
            if (contender.messageEpoch != 0 && !contender.woken) {
                present.add("a hand-off is asked for again");
            }
        } else if (phase instanceof RedisContenderState.Queued queued) {
            if (!grants.isStored(i, server)) {
                present.add("forgotten in the queue");
            } else if (grants.isGrantedTo(i) && !clientOf(contender).connected) {
                present.add("handed off to a lost connection");
            }
            if (clientOf(contender).arriving.stream().anyMatch(arrival -> isOlder(arrival, i, queued))) {
                present.add("a message is older than the queue entry");
            }
        }
    }

    private static boolean isOlder(Arrival arrival, int contender, RedisContenderState.Queued queued) {
        String[] parts = arrival.message.split(" ", -1);
        return parts[0].equals("G")
                && RedisGrantHistory.contender(parts[1]) == contender
                && Long.parseLong(parts[3]) < queued.time().micros();
    }

    // ---- the key

    @Override
    public void describe(StateKey key) {
        describeServer(key);
        for (int i = 0; i < clients.size(); i++) {
            Client client = clients.get(i);
            key.value("\nclient").flags(client.alive, client.connected, client.knowsTime);
            key.number(client.epoch);
            key.value(" sent").list(client.sent, this::describe);
            key.value(" arriving").list(client.arriving, this::describe);
        }
        key.value("\nlate").list(stray, this::describe);
        key.value(" ended")
                .list(
                        grants.ended(),
                        (into, ended) -> into.participant(ended.contender())
                                .value(ended.cause())
                                .number(ended.token()));
        key.number(faults.left()).number(furtherAcquires).number(grants.highestToken());
        if (timed) {
            key.number(renewals).number(halfLeases);
        }
        key.participants(contenders.size(), (view, i) -> describe(contenders.get(i), view), (details, i) -> {});
    }

    /** Describes all that the scripts may still read. No queue entry expires by itself, so its time is left out. */
    private void describeServer(StateKey key) {
        for (String each : List.of(KEYS.grant(), KEYS.counter())) {
            key.value(server.keys().get(each) instanceof StoredValue.Text value ? value.text() : null);
        }
        if (server.keys().get(KEYS.queue()) instanceof StoredValue.SortedSet queue) {
            key.list(RedisGrantHistory.queueIn(server).toList(), StateKey::participant);
            key.number((long) Collections.max(queue.scores().values()).doubleValue());
        }
        key.number(wokenAt()).number(now);
        if (timed && server.keys().get(KEYS.grant()) instanceof StoredValue.Text grant) {
            key.number(grant.expiresAt().orElseThrow() * 1_000);
        }
        for (int i = 0; i < clients.size(); i++) {
            key.flags(server.subscribed().contains(channel(i)));
        }
    }

    /** Describes what makes a contender differ from the others, except its attempt id. */
    private void describe(Contender contender, StateKey key) {
        key.value("\ncontender").number(contender.client).flags(contender.waits).value(contender.protocol);
        key.value(contender.core).value(contender.cleanup);
        key.flags(
                contender.woken,
                contender.gaveUp,
                contender.delayed,
                contender.registered,
                contender.abandoned,
                contender.expiring);
        key.number(contender.granted).number(contender.confirming).value(contender.found);
        key.number(contender.messageEpoch).number(contender.token);
        if (timed) {
            key.number(contender.validUntil);
        }
        boolean mayBeRepeated = faults.left() > 0 && !contender.lastMessage.isEmpty();
        key.value(mayBeRepeated ? contender.lastMessage.substring(2 + 32) : null);
    }

    private void describe(StateKey key, Arrival arrival) {
        key.value(arrival.message).value(arrival.values).flags(arrival.request != null);
        if (arrival.request != null) {
            describe(key, arrival.request);
        }
    }

    private void describe(StateKey key, Request request) {
        key.number(request.client).participant(request.contender).value(request.script);
        key.flags(request.withTime, request.awaited, request.sentAgain)
                .number(request.token).number(request.epoch);
        key.number(request.notAfter);
        if (timed) {
            key.number(request.sent);
        }
    }
}
