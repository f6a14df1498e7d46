// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.Ranks;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.ScriptInterpreter;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their connections, and the Redis server, at one moment. The state machine
 * and the Lua scripts are those of production; the core and the network are modelled.
 *
 * <p>Time is the server's clock. It advances by 1 µs with each script, so that tokens differ, and by more than a request timeout
 * in a step of its own, which happens only while a request may be late or a waiter is woken. Whether a deadline has passed is a
 * step too: a grant expires only when nobody believes in it.
 */
record RedisWorld(
        RedisModel server,
        long now,
        List<Client> clients,
        List<Contender> contenders,
        List<Request> stray,
        int faults,
        long highestToken,
        Optional<String> broken,
        Scope scope)
        implements World<RedisWorld> {
    private static final RedisKeyLayout.OfLock KEYS = new RedisKeyLayout("").of(new LockName("x"));
    private static final long START = 1_700_000_000_000_000L;
    private static final long REQUEST_TIMEOUT = 2_000_000;
    private static final long CLOCK_STEP = 5;
    private static final Duration DELAY = Duration.ofHours(1);
    private static final long LEASE_MILLIS = 30_000_000; // no key expires by itself
    private static final MonotonicInstant ANY_TIME = new MonotonicInstant(0);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");
    /** The digits that all attempt ids begin with; one digit follows. */
    private static final String ID_START = "a".repeat(31);

    private static final List<String> ATTEMPT_IDS =
            IntStream.range(0, 10).mapToObj(i -> ID_START + i).toList();
    private static final ScriptInterpreter LUA = new ScriptInterpreter();

    /** The same script is run with the same arguments in many worlds, which differ elsewhere. */
    private static final Map<Run, RedisModel.Result> RESULTS = new HashMap<>();

    private record Run(RedisModel server, long now, String script, List<String> args) {}

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param script returns the text of a script
     * @param wakesOnConnect whether a new connection wakes the contenders, which may have missed messages
     */
    record Variant(
            BiFunction<RedisContenderState, RedisContenderEvent, RedisContenderState.Step> machine,
            Function<RedisLockScript, String> script,
            boolean wakesOnConnect) {
        static final Variant PRODUCTION =
                new Variant(RedisContenderState::on, script -> script.script().text(), true);
    }

    /**
     * What is explored.
     *
     * @param clientOfContender the client of each contender
     * @param faults the number of faults
     * @param possible the kinds of faults
     * @param delayedReleases whether a holder may also release with a delay
     */
    record Scope(
            int clients,
            List<Integer> clientOfContender,
            int faults,
            Set<Fault> possible,
            boolean delayedReleases,
            Variant variant) {}

    /** What a process has sent and not yet received on its connection, in order. */
    record Client(boolean alive, boolean connected, int epoch, List<Request> sent, List<Arrival> arriving) {}

    /** The scripts of a contender. */
    enum Script {
        ACQUIRE,
        REMOVAL,
        DELAYED_RELEASE,
        SWEEP
    }

    /**
     * A request that the server has not executed.
     *
     * @param notAfter the server's time after which it refuses an acquire
     * @param awaited whether its sender still waits for the reply
     */
    record Request(int contender, Script script, boolean withTime, int epoch, long notAfter, boolean awaited) {
        Request unawaited() {
            return new Request(contender, script, withTime, epoch, notAfter, false);
        }
    }

    /** A reply, or a message if it has no request. */
    record Arrival(@Nullable Request request, List<?> values, String message) {}

    /** What may go wrong, once for each fault that is left. */
    enum Fault {
        /** A connection is lost, with the replies and messages on it. */
        CUT,
        /** The server executes a request of a lost connection later, also long after its sender has given up. */
        LATE_EXECUTION,
        /** A reply does not come in time. */
        SLOW_REPLY,
        /** A process dies. */
        DEATH,
        /** A holder cannot renew, or a reply takes longer than a lease. */
        EXPIRY,
        /** An operator ends a grant. */
        FORCED_RELEASE,
        /** The server's clock is set back. */
        CLOCK_SET_BACK
    }

    /** What the core does about one contender. */
    enum Core {
        NEW,
        ATTEMPTING,
        WAITING,
        RETRYING,
        HOLDING,
        ENDING,
        END_FAILED,
        DONE
    }

    /** The repetition of a removal in the background. */
    enum Cleanup {
        NONE,
        DUE,
        RUNNING
    }

    /**
     * One contender, and the core's view of it.
     *
     * @param queuedAcquire whether an acquire waits for the connection
     * @param messageEpoch the connection of the last hand-off message
     * @param delayed whether the core has released with a delay
     * @param token the token of the grant that is believed in; 0 if none
     */
    record Contender(
            int client,
            RedisContenderState protocol,
            Core core,
            Cleanup cleanup,
            boolean woken,
            boolean gaveUp,
            boolean delayed,
            boolean registered,
            boolean queuedAcquire,
            int messageEpoch,
            long token) {}

    /** Returns the start: contenders that have made no request. */
    static RedisWorld start(Scope scope) {
        Set<String> channels = new HashSet<>();
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < scope.clients; i++) {
            clients.add(new Client(true, true, 1, List.of(), List.of()));
            channels.add(channel(i));
        }
        List<Contender> contenders = scope.clientOfContender.stream()
                .map(client -> new Contender(
                        client,
                        RedisContenderState.INITIAL,
                        Core.NEW,
                        Cleanup.NONE,
                        false,
                        false,
                        false,
                        false,
                        false,
                        0,
                        0))
                .toList();
        return new RedisWorld(
                RedisModel.EMPTY.withSubscribed(channels),
                START,
                List.copyOf(clients),
                contenders,
                List.of(),
                scope.faults,
                0,
                Optional.empty(),
                scope);
    }

    private boolean may(Fault fault) {
        return faults > 0 && scope.possible.contains(fault);
    }

    private static String channel(int client) {
        return "channel" + client;
    }

    private static String attemptId(int contender) {
        return ATTEMPT_IDS.get(contender);
    }

    private static int contender(String attemptId) {
        return attemptId.charAt(ID_START.length()) - '0';
    }

    // ---- steps

    @Override
    public List<Step<RedisWorld>> steps() {
        List<Step<RedisWorld>> steps = new ArrayList<>();
        for (int i = 0; i < contenders.size(); i++) {
            if (clients.get(contenders.get(i).client).alive) {
                stepsOfCore(i, steps);
            }
        }
        for (int i = 0; i < clients.size(); i++) {
            stepsOfClient(i, steps);
        }
        stepsOfServer(steps);
        return steps;
    }

    private void stepsOfCore(int i, List<Step<RedisWorld>> steps) {
        Contender contender = contenders.get(i);
        String who = "contender " + i + " ";
        switch (contender.core) {
            case NEW -> add(steps, who + "makes its first attempt", Kind.PROGRESS, next -> next.attempt(i));
            case WAITING ->
                add(
                        steps,
                        who
                                + (contender.woken
                                        ? "tries again, since it was woken"
                                        : "tries again after the fallback time"),
                        contender.woken ? Kind.PROGRESS : Kind.FALLBACK,
                        next -> next.attempt(i));
            case RETRYING -> add(steps, who + "tries again after a failure", Kind.PROGRESS, next -> next.attempt(i));
            case HOLDING -> {
                add(steps, who + "releases", Kind.PROGRESS, next -> next.end(i));
                if (scope.delayedReleases) {
                    add(steps, who + "releases with a delay", Kind.OPTIONAL, next -> next.endAfter(i));
                }
            }
            case END_FAILED ->
                add(steps, who + "ends again after a failure", Kind.PROGRESS, next -> {
                    if (contender.delayed) {
                        next.endAfter(i);
                    } else {
                        next.end(i);
                    }
                });
            default -> {}
        }
        boolean waits =
                contender.core == Core.ATTEMPTING || contender.core == Core.WAITING || contender.core == Core.RETRYING;
        if (waits && !contender.gaveUp) {
            add(steps, who + "gives up", Kind.OPTIONAL, next -> next.giveUp(i));
        }
        if (contender.cleanup == Cleanup.DUE) {
            add(steps, who + "repeats its removal", Kind.PROGRESS, next -> {
                next.contenders.get(i).cleanup = Cleanup.RUNNING;
                next.feed(i, new RedisContenderEvent.CleanupDue());
            });
        }
        if (contender.core == Core.HOLDING && may(Fault.EXPIRY)) {
            add(steps, who + "does not renew until its deadline", Kind.OPTIONAL, next -> {
                next.faults--;
                next.end(i);
            });
        }
    }

    private void stepsOfClient(int i, List<Step<RedisWorld>> steps) {
        Client client = clients.get(i);
        if (!client.alive) {
            return;
        }
        String who = "client " + i;
        if (!client.connected) {
            add(steps, who + " connects again", Kind.PROGRESS, next -> next.reconnect(i));
            return;
        }
        if (!client.sent.isEmpty()) {
            Request request = client.sent.get(0);
            add(
                    steps,
                    "the server executes " + request.script + " of contender " + request.contender,
                    Kind.PROGRESS,
                    next -> {
                        next.clients.set(i, withSent(next.clients.get(i), tail(client.sent)));
                        next.execute(request, i);
                    });
        }
        if (!client.arriving.isEmpty()) {
            Arrival arrival = client.arriving.get(0);
            String what = arrival.request == null
                    ? "the message \"" + arrival.message + "\""
                    : "the reply " + arrival.values + " for contender " + arrival.request.contender;
            add(steps, who + " receives " + what, Kind.PROGRESS, next -> {
                next.clients.set(i, withArriving(next.clients.get(i), tail(client.arriving)));
                next.receive(i, arrival);
            });
        }
        if (may(Fault.CUT)) {
            add(steps, "the connection of " + who + " is cut", Kind.OPTIONAL, next -> {
                next.faults--;
                next.cut(i, true);
            });
        }
        if (may(Fault.DEATH)) {
            add(steps, "the process of " + who + " dies", Kind.OPTIONAL, next -> {
                next.faults--;
                next.cut(i, false);
            });
        }
        if (may(Fault.SLOW_REPLY)) {
            awaited(client)
                    .ifPresent(request -> add(
                            steps,
                            "the reply to " + request.script + " of contender " + request.contender
                                    + " does not come in time",
                            Kind.OPTIONAL,
                            next -> {
                                next.faults--;
                                next.timeOut(i, request);
                            }));
        }
    }

    private void stepsOfServer(List<Step<RedisWorld>> steps) {
        if (!stray.isEmpty()) {
            Request request = stray.get(0);
            add(
                    steps,
                    "the server executes " + request.script + " of contender " + request.contender
                            + " from a lost connection",
                    Kind.OPTIONAL,
                    next -> {
                        next.stray.remove(0);
                        next.execute(request, -1);
                    });
            add(steps, "a request of a lost connection is lost too", Kind.OPTIONAL, next -> next.stray.remove(0));
        }
        boolean anyAwaited = clients.stream()
                .anyMatch(client -> awaited(client)
                        .filter(request -> request.script == Script.ACQUIRE)
                        .isPresent());
        boolean anyInDoubt = contenders.stream()
                        .anyMatch(contender -> contender.protocol.inDoubt().mayStillExecute()
                                && contender.protocol.inDoubt().notAfter() >= now)
                || stray.stream().anyMatch(request -> request.notAfter >= now);
        boolean anyWoken = wokenAt() > now - REQUEST_TIMEOUT;
        if (!anyAwaited && (anyInDoubt || anyWoken)) {
            add(steps, "more than a request timeout passes", Kind.PROGRESS, next -> next.now += 2 * REQUEST_TIMEOUT);
        }
        if (may(Fault.CLOCK_SET_BACK)) {
            add(steps, "the server's clock is set back", Kind.OPTIONAL, next -> {
                next.faults--;
                next.now -= CLOCK_STEP;
            });
        }
        if (isKept()) {
            add(
                    steps,
                    "the delay of a release has passed",
                    Kind.FALLBACK,
                    next -> next.server =
                            next.server.run(next.now, "DEL", KEYS.grant()).next());
        }
        holder().ifPresent(holder -> {
            Contender contender = contenders.get(holder);
            boolean expected = contender.core == Core.DONE || !clients.get(contender.client).alive;
            if (contender.token == 0 && (expected || may(Fault.EXPIRY))) {
                add(
                        steps,
                        "the grant of contender " + holder + " expires",
                        expected ? Kind.FALLBACK : Kind.OPTIONAL,
                        next -> {
                            next.faults -= expected ? 0 : 1;
                            next.server = next.server
                                    .run(next.now, "DEL", KEYS.grant())
                                    .next();
                        });
            }
            if (may(Fault.FORCED_RELEASE)) {
                add(steps, "an operator ends the grant of contender " + holder, Kind.OPTIONAL, next -> {
                    next.faults--;
                    next.force(holder);
                });
            }
        });
    }

    private long wokenAt() {
        return server.keys().get(KEYS.entries()) instanceof StoredValue.Hash hash
                        && hash.fields().containsKey("wake")
                ? Long.parseLong(hash.fields().get("wake"))
                : 0;
    }

    private boolean isKept() {
        return server.keys().get(KEYS.grant()) instanceof StoredValue.Text grant
                && grant.text().startsWith(OwnerRecordCodec.KEPT_MARK);
    }

    /** Returns the contender that has the grant in the store, other than for the delay of a release. */
    private Optional<Integer> holder() {
        return server.keys().get(KEYS.grant()) instanceof StoredValue.Text grant && !isKept()
                ? Optional.of(contender(grant.text().substring(0, 32)))
                : Optional.empty();
    }

    private long storedToken() {
        Matcher matcher = Pattern.compile(" token=(\\d+)")
                .matcher(
                        ((StoredValue.Text) Objects.requireNonNull(server.keys().get(KEYS.grant()))).text());
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** Returns the request whose timeout comes first. */
    private static Optional<Request> awaited(Client client) {
        return Stream.concat(
                        client.arriving.stream().map(Arrival::request).filter(Objects::nonNull), client.sent.stream())
                .filter(Request::awaited)
                .findFirst();
    }

    private interface Change {
        void apply(Next next);
    }

    private void add(List<Step<RedisWorld>> steps, String label, Kind kind, Change change) {
        Next next = new Next(this);
        change.apply(next);
        steps.add(new Step<>(label, kind, next.build()));
    }

    private static <T> List<T> tail(List<T> list) {
        return List.copyOf(list.subList(1, list.size()));
    }

    private static <T> List<T> with(List<T> list, T more) {
        List<T> all = new ArrayList<>(list);
        all.add(more);
        return List.copyOf(all);
    }

    private static Client withSent(Client client, List<Request> sent) {
        return new Client(client.alive, client.connected, client.epoch, sent, client.arriving);
    }

    private static Client withArriving(Client client, List<Arrival> arriving) {
        return new Client(client.alive, client.connected, client.epoch, client.sent, arriving);
    }

    /** A contender that can be changed. */
    private static final class Draft {
        final int client;
        RedisContenderState protocol;
        Core core;
        Cleanup cleanup;
        boolean woken;
        boolean gaveUp;
        boolean delayed;
        boolean registered;
        boolean queuedAcquire;
        int messageEpoch;
        long token;

        Draft(Contender from) {
            client = from.client;
            protocol = from.protocol;
            core = from.core;
            cleanup = from.cleanup;
            woken = from.woken;
            gaveUp = from.gaveUp;
            delayed = from.delayed;
            registered = from.registered;
            queuedAcquire = from.queuedAcquire;
            messageEpoch = from.messageEpoch;
            token = from.token;
        }

        Contender build() {
            return new Contender(
                    client,
                    protocol,
                    core,
                    cleanup,
                    woken,
                    gaveUp,
                    delayed,
                    registered,
                    queuedAcquire,
                    messageEpoch,
                    token);
        }
    }

    /** The world after a step, while the step is taken. */
    private static final class Next {
        RedisModel server;
        long now;
        final List<Client> clients;
        final List<Draft> contenders;
        final List<Request> stray;
        int faults;
        long highestToken;
        Optional<String> broken;
        final Scope scope;

        Next(RedisWorld from) {
            server = from.server;
            now = from.now;
            clients = new ArrayList<>(from.clients);
            contenders =
                    new ArrayList<>(from.contenders.stream().map(Draft::new).toList());
            stray = new ArrayList<>(from.stray);
            faults = from.faults;
            highestToken = from.highestToken;
            broken = from.broken;
            scope = from.scope;
        }

        RedisWorld build() {
            return new RedisWorld(
                    server,
                    now,
                    List.copyOf(clients),
                    contenders.stream().map(Draft::build).toList(),
                    List.copyOf(stray),
                    faults,
                    highestToken,
                    broken,
                    scope);
        }

        // ---- the core

        void attempt(int i) {
            Draft contender = contenders.get(i);
            contender.core = Core.ATTEMPTING;
            contender.woken = false;
            contender.registered = true;
            feed(
                    i,
                    new RedisContenderEvent.Attempt(
                            clients.get(contender.client).epoch()));
        }

        void end(int i) {
            Draft contender = contenders.get(i);
            contender.core = Core.ENDING;
            contender.token = 0;
            feed(i, new RedisContenderEvent.End());
        }

        void endAfter(int i) {
            Draft contender = contenders.get(i);
            contender.core = Core.ENDING;
            contender.delayed = true;
            contender.token = 0;
            feed(i, new RedisContenderEvent.EndAfter(DELAY));
        }

        void giveUp(int i) {
            Draft contender = contenders.get(i);
            contender.gaveUp = true;
            if (contender.core != Core.ATTEMPTING) {
                end(i);
            }
        }

        private void attemptEnded(int i, Core then) {
            Draft contender = contenders.get(i);
            expect(i, Core.ATTEMPTING);
            contender.core = then;
            if (contender.gaveUp) {
                end(i);
            }
        }

        private void granted(int i, long token) {
            expect(i, Core.ATTEMPTING);
            RedisWorld stored = build();
            boolean valid = stored.holder().equals(Optional.of(i)) && stored.storedToken() == token;
            Draft contender = contenders.get(i);
            if (contender.gaveUp || !valid) {
                end(i); // the core's clock says whether it is valid
                return;
            }
            contender.core = Core.HOLDING;
            contender.token = token;
            if (token <= highestToken) {
                broken = Optional.of("S03: token " + token + " after " + highestToken);
            }
            highestToken = token;
        }

        private void expect(int i, Core... expected) {
            if (!List.of(expected).contains(contenders.get(i).core)) {
                throw new IllegalStateException("an outcome for contender " + i + " while " + contenders.get(i).core);
            }
        }

        // ---- the state machine

        void feed(int i, RedisContenderEvent event) {
            RedisContenderState.Step step = scope.variant.machine.apply(contenders.get(i).protocol, event);
            contenders.get(i).protocol = step.state();
            for (RedisContenderEffect effect : step.effects()) {
                perform(i, effect);
            }
        }

        private void perform(int i, RedisContenderEffect effect) {
            Draft contender = contenders.get(i);
            if (effect instanceof RedisContenderEffect.Plain plain) {
                performPlain(i, plain);
            } else if (effect instanceof RedisContenderEffect.SendRemoval removal) {
                send(i, Script.REMOVAL, removal.withTime());
            } else if (effect instanceof RedisContenderEffect.SendDelayedRelease) {
                send(i, Script.DELAYED_RELEASE, true);
            } else if (effect instanceof RedisContenderEffect.CheckHandOff check) {
                RedisWorld stored = build();
                boolean valid = stored.holder().equals(Optional.of(i))
                        && stored.storedToken() == check.handOff().token();
                if (contender.messageEpoch != check.queued().epoch()) {
                    broken = Optional.of("S02: the deadline of contender " + i + " comes from two servers' clocks");
                }
                feed(
                        i,
                        valid
                                ? new RedisContenderEvent.HandOffUsable(ANY_TIME)
                                : new RedisContenderEvent.HandOffUnusable());
            } else if (effect instanceof RedisContenderEffect.ReportGranted report) {
                granted(i, report.token());
            } else if (effect instanceof RedisContenderEffect.ReportBusy) {
                attemptEnded(i, Core.WAITING);
            } else if (effect instanceof RedisContenderEffect.FailAttempt) {
                attemptEnded(i, Core.RETRYING);
            } else if (effect instanceof RedisContenderEffect.ReportEnded) {
                expect(i, Core.ENDING);
                contender.core = Core.DONE;
            } else if (effect instanceof RedisContenderEffect.FailEnd) {
                expect(i, Core.ENDING);
                contender.core = Core.END_FAILED;
            } else if (effect instanceof RedisContenderEffect.FailCleanup) {
                contender.cleanup = Cleanup.DUE;
            } else {
                throw new IllegalStateException("not in the model: " + effect);
            }
        }

        private void performPlain(int i, RedisContenderEffect.Plain effect) {
            Draft contender = contenders.get(i);
            switch (effect) {
                case SEND_ACQUIRE -> {
                    if (clients.get(contender.client).connected()) {
                        send(i, Script.ACQUIRE, true);
                    } else {
                        contender.queuedAcquire = true;
                    }
                }
                case FAIL_LATE_ATTEMPT -> attemptEnded(i, Core.RETRYING);
                case WAKE_WAITER ->
                    contender.woken = contender.core == Core.ATTEMPTING || contender.core == Core.WAITING;
                case UNREGISTER -> contender.registered = false;
                case START_CLEANUP, REPEAT_CLEANUP -> contender.cleanup = Cleanup.DUE;
                case COMPLETE_CLEANUP -> contender.cleanup = Cleanup.NONE;
                default -> throw new IllegalStateException("not in the model: " + effect);
            }
        }

        // ---- the network

        private void send(int i, Script script, boolean withTime) {
            int at = contenders.get(i).client;
            Client client = clients.get(at);
            Request request =
                    new Request(i, script, withTime, client.epoch, now + REQUEST_TIMEOUT, script != Script.SWEEP);
            if (client.connected) {
                clients.set(at, withSent(client, with(client.sent, request)));
            } else {
                fail(request, true);
            }
        }

        private void fail(Request request, boolean notExecuted) {
            switch (request.script) {
                case ACQUIRE ->
                    feed(
                            request.contender,
                            new RedisContenderEvent.AcquireFailed(
                                    notExecuted, request.epoch, new ServerTime(request.notAfter), NO_REPLY));
                case REMOVAL -> feed(request.contender, new RedisContenderEvent.RemovalFailed(notExecuted, NO_REPLY));
                case DELAYED_RELEASE -> feed(request.contender, new RedisContenderEvent.DelayFailed(NO_REPLY));
                default -> {}
            }
        }

        void timeOut(int at, Request request) {
            Client client = clients.get(at);
            clients.set(
                    at,
                    new Client(
                            client.alive,
                            client.connected,
                            client.epoch,
                            client.sent.stream()
                                    .map(each -> each.equals(request) ? each.unawaited() : each)
                                    .toList(),
                            client.arriving.stream()
                                    .filter(each -> !request.equals(each.request))
                                    .toList()));
            fail(request, false);
        }

        /** The server may still execute what was sent; replies and messages are lost. */
        void cut(int at, boolean survives) {
            Client client = clients.get(at);
            if (scope.possible.contains(Fault.LATE_EXECUTION)) {
                client.sent.forEach(request -> stray.add(request.unawaited()));
            }
            clients.set(at, new Client(survives, false, client.epoch, List.of(), List.of()));
            Set<String> subscribed = new HashSet<>(server.subscribed());
            subscribed.remove(channel(at));
            server = server.withSubscribed(subscribed);
            if (!survives) {
                contenders.stream().filter(each -> each.client == at).forEach(each -> {
                    each.core = Core.DONE;
                    each.cleanup = Cleanup.NONE;
                    each.woken = false;
                    each.registered = false;
                    each.queuedAcquire = false;
                    each.token = 0;
                    each.protocol = RedisContenderState.INITIAL;
                });
                return;
            }
            List<Request> unanswered = new ArrayList<>();
            client.arriving.stream()
                    .map(Arrival::request)
                    .filter(Objects::nonNull)
                    .forEach(unanswered::add);
            unanswered.addAll(client.sent);
            unanswered.stream().filter(Request::awaited).forEach(request -> fail(request, false));
        }

        void reconnect(int at) {
            Client client = clients.get(at);
            clients.set(at, new Client(true, true, client.epoch + 1, List.of(), List.of()));
            Set<String> subscribed = new HashSet<>(server.subscribed());
            subscribed.add(channel(at));
            server = server.withSubscribed(subscribed);
            for (int i = 0; i < contenders.size(); i++) {
                Draft contender = contenders.get(i);
                if (contender.client == at && contender.queuedAcquire) {
                    contender.queuedAcquire = false;
                    send(i, Script.ACQUIRE, true);
                }
                if (contender.client == at && contender.registered && scope.variant.wakesOnConnect) {
                    feed(i, new RedisContenderEvent.Woken());
                }
            }
        }

        void receive(int at, Arrival arrival) {
            if (arrival.request == null) {
                receiveMessage(at, arrival.message);
                return;
            }
            int i = arrival.request.contender;
            if (!arrival.request.awaited) {
                return;
            }
            int epoch = clients.get(at).epoch;
            List<?> values = arrival.values;
            if (arrival.request.script == Script.REMOVAL) {
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
            ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
            if (arrival.request.script == Script.DELAYED_RELEASE) {
                feed(
                        i,
                        new RedisContenderEvent.Delayed(
                                epoch, time, values.get(0).equals(1L)));
                return;
            }
            String kind = values.size() == 1 ? "granted" : (String) values.get(0);
            switch (kind) {
                case "granted" -> {
                    long token = values.size() == 1 ? time.micros() : (Long) values.get(1);
                    feed(i, new RedisContenderEvent.Granted(epoch, time, token, ANY_TIME, ANY_TIME, false));
                }
                case "busy" -> feed(i, new RedisContenderEvent.Busy(epoch, time, ANY_TIME, true, 0));
                default -> feed(i, new RedisContenderEvent.Late(epoch, time));
            }
        }

        private void receiveMessage(int at, String text) {
            String[] parts = text.split(" ", -1);
            int i = contender(parts[1]);
            if (!contenders.get(i).registered) {
                return;
            }
            contenders.get(i).messageEpoch = clients.get(at).epoch;
            feed(
                    i,
                    parts[0].equals("W")
                            ? new RedisContenderEvent.Woken()
                            : new RedisContenderEvent.HandedOff(
                                    clients.get(at).epoch,
                                    Long.parseLong(parts[2]),
                                    new ServerTime(Long.parseLong(parts[3])),
                                    ANY_TIME));
        }

        // ---- the server

        /** @param at the client whose connection brings the request and takes the reply; negative if that is lost */
        void execute(Request request, int at) {
            String attempt = attemptId(request.contender);
            if (request.script == Script.ACQUIRE) {
                run(
                        request,
                        at,
                        RedisLockScript.ACQUIRE,
                        attempt,
                        attempt + " record",
                        String.valueOf(LEASE_MILLIS),
                        String.valueOf(request.notAfter),
                        channel(contenders.get(request.contender).client),
                        String.valueOf(LEASE_MILLIS),
                        "nonce");
            } else if (request.script == Script.DELAYED_RELEASE) {
                run(request, at, RedisLockScript.RELEASE_AFTER, attempt, String.valueOf(DELAY.toMillis()));
            } else {
                run(request, at, RedisLockScript.RELEASE, attempt, request.withTime ? "1" : "0");
            }
        }

        void force(int holder) {
            String value =
                    ((StoredValue.Text) Objects.requireNonNull(server.keys().get(KEYS.grant()))).text();
            contenders.get(holder).token = 0; // whether the loss is noticed is not explored here
            run(null, -1, RedisLockScript.FORCE_RELEASE, value);
        }

        private void run(@Nullable Request request, int at, RedisLockScript script, String... args) {
            now++;
            RedisModel.Result result = RESULTS.computeIfAbsent(
                    new Run(server, now, scope.variant.script.apply(script), List.of(args)),
                    run -> LUA.run(run.server, run.now, run.script, List.of(KEYS.all()), run.args));
            server = result.next().withoutExpiry();
            for (RedisModel.Message message : result.published()) {
                int receiver = Integer.parseInt(message.channel().substring("channel".length()));
                arrive(receiver, new Arrival(null, List.of(), withoutSignature(message.text())));
            }
            if (request != null && at >= 0 && request.awaited) {
                Object reply = Objects.requireNonNull(result.reply());
                arrive(at, new Arrival(request, reply instanceof List<?> values ? values : List.of(reply), ""));
            }
        }

        private void arrive(int at, Arrival arrival) {
            if (clients.get(at).connected) {
                clients.set(at, withArriving(clients.get(at), with(clients.get(at).arriving, arrival)));
            }
        }

        private static String withoutSignature(String message) {
            String[] parts = message.split(" ", -1);
            return String.join(" ", List.of(parts).subList(0, parts[0].equals("W") ? 2 : 4));
        }
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        List<Integer> believers = new ArrayList<>();
        for (int i = 0; i < contenders.size(); i++) {
            if (contenders.get(i).token != 0) {
                believers.add(i);
            }
        }
        if (believers.size() > 1) {
            return Optional.of("S01: contenders " + believers + " hold the lock");
        }
        if (believers.size() == 1
                && !(holder().equals(Optional.of(believers.get(0)))
                        && storedToken() == contenders.get(believers.get(0)).token)) {
            return Optional.of(
                    "S01: contender " + believers.get(0) + " holds the lock, and the store does not know it");
        }
        if (isFinal()) {
            for (int i = 0; i < contenders.size(); i++) {
                if (clients.get(contenders.get(i).client).alive && isStored(i)) {
                    return Optional.of("S08: contender " + i + " has ended, and the store still has something of it");
                }
            }
        }
        return Optional.empty();
    }

    private boolean isStored(int i) {
        return server.keys().entrySet().stream()
                .filter(entry -> !entry.getKey().equals(KEYS.counter()))
                .filter(entry -> !(entry.getKey().equals(KEYS.grant()) && isKept()))
                .anyMatch(entry -> entry.getValue().toString().contains(attemptId(i)));
    }

    @Override
    public boolean isFinal() {
        return contenders.stream().allMatch(each -> each.core == Core.DONE && each.cleanup == Cleanup.NONE)
                && clients.stream()
                        .allMatch(client -> !client.alive
                                || (client.sent.isEmpty() && client.arriving.isEmpty() && client.connected));
    }

    @Override
    public List<String> situations() {
        List<String> present = new ArrayList<>();
        for (Contender contender : contenders) {
            present.add(contender.protocol.phase().getClass().getSimpleName());
            if (contender.core == Core.HOLDING) {
                present.add("held");
            }
            if (contender.gaveUp && contender.core == Core.DONE) {
                present.add("given up");
            }
        }
        if (isKept()) {
            present.add("kept for a delay");
        }
        if (wokenAt() > 0) {
            present.add("left free for a woken waiter");
        }
        return new TreeSet<>(present).stream().toList();
    }

    // ---- the key

    @Override
    public String key() {
        List<String> views =
                IntStream.range(0, contenders.size()).mapToObj(this::view).toList();
        int[] labels = labels(views);
        StringBuilder text = new StringBuilder(1_000);
        text.append(server.text()).append(now).append(' ');
        for (Client client : clients) {
            text.append(client.alive ? '+' : '-').append(client.connected).append(client.epoch);
            client.sent.forEach(request -> describe(request, labels, text));
            for (Arrival arrival : client.arriving) {
                text.append('<').append(arrival.message).append(arrival.values);
                if (arrival.request != null) {
                    describe(arrival.request, labels, text);
                }
            }
        }
        stray.forEach(request -> describe(request, labels, text));
        relabel(text, labels);
        views.stream().sorted().forEach(text::append);
        text.append(' ').append(faults).append(' ').append(highestToken);
        return Ranks.replaceTimes(text);
    }

    /** Returns what makes a contender differ from the others, except its attempt id. */
    private String view(int i) {
        Contender contender = contenders.get(i);
        InDoubtRequests inDoubt = contender.protocol.inDoubt();
        return contender.client
                + " " + contender.protocol.phase()
                + (inDoubt.mayStillExecute() ? inDoubt : "")
                + contender.core
                + contender.cleanup
                + (contender.woken ? 'w' : ' ')
                + (contender.gaveUp ? 'u' : contender.delayed ? 'd' : ' ')
                + (contender.registered ? 'r' : ' ')
                + (contender.queuedAcquire ? 'q' : ' ')
                + contender.messageEpoch
                + " " + contender.token + " ";
    }

    /** Returns a number for each contender that depends on what it does, and not on which of several equal ones it is. */
    private static int[] labels(List<String> views) {
        int[] labels = new int[views.size()];
        for (int i = 0; i < labels.length; i++) {
            for (int j = 0; j < labels.length; j++) {
                int order = views.get(j).compareTo(views.get(i));
                labels[i] += order < 0 || (order == 0 && j < i) ? 1 : 0;
            }
        }
        return labels;
    }

    /** Replaces the contenders' attempt ids by their labels. */
    private static void relabel(StringBuilder text, int[] labels) {
        int length = ID_START.length();
        for (int at = text.indexOf(ID_START); at >= 0; at = text.indexOf(ID_START, at + length)) {
            int last = at + length;
            text.setCharAt(last, (char) ('0' + labels[text.charAt(last) - '0']));
        }
    }

    private static void describe(Request request, int[] labels, StringBuilder text) {
        text.append('>')
                .append(labels[request.contender])
                .append(request.script)
                .append(request.withTime)
                .append(request.epoch)
                .append(':')
                .append(request.notAfter)
                .append(request.awaited ? " !" : " ");
    }
}
