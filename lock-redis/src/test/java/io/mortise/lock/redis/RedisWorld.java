// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redis.RedisClientModel.Arrival;
import io.mortise.lock.redis.RedisClientModel.Request;
import io.mortise.lock.redis.RedisClientModel.Script;
import io.mortise.lock.redis.RedisContenderModel.Cleanup;
import io.mortise.lock.redis.RedisContenderModel.Found;
import io.mortise.lock.redis.RedisGrantHistory.Belief;
import io.mortise.lock.redis.RedisGrantHistory.Cause;
import io.mortise.lock.redis.RedisScope.Fault;
import io.mortise.lock.redis.RedisScope.Flaw;
import io.mortise.lock.redis.RedisScope.Option;
import io.mortise.lock.redis.RedisScriptRun.ScriptOutcome;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

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
    static final long REQUEST_TIMEOUT = 20 * StateKey.LONG_GAP_MICROS;

    static final long LONG_TIME = 200 * StateKey.LONG_GAP_MICROS;
    static final long CLOCK_STEP = 13 * StateKey.LONG_GAP_MICROS;

    /** The field of the entries that says when an attempt was woken. */
    static final String WAKE = "wake";

    private static final Duration DELAY = Duration.ofHours(1);
    private static final long LEASE_MILLIS = RedisLeaseTimes.LEASE.toMillis();
    private static final long HALF_LEASE = LEASE_MILLIS * 1_000 / 2;
    private static final long ENTRY_MILLIS = 100 * LEASE_MILLIS; // a waiter's entry never expires by itself
    private static final int HALF_LEASES = 2; // until a lease is over; one more for each renewal at its half
    static final MonotonicInstant ANY_TIME = new MonotonicInstant(0);
    static final List<?> NO_SCRIPT = List.of("NOSCRIPT");

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    final RedisScope scope;
    final boolean timed;
    final List<RedisClientModel> clients = new ArrayList<>();
    final List<RedisContenderModel> contenders = new ArrayList<>();
    RedisModel server;
    RedisGrantHistory grants;
    long now;
    List<Request> stray; // requests of lost connections, which may still be executed
    FaultBudget<Fault> faults;
    int furtherAcquires;
    int renewals;
    int halfLeases;
    Optional<String> broken = Optional.empty();

    /** Creates the start: contenders that have made no request. */
    RedisWorld(RedisScope scope) {
        this.scope = scope;
        timed = scope.options().contains(Option.RENEWAL);
        Set<String> channels = new HashSet<>();
        for (int i = 0; i < scope.clients(); i++) {
            clients.add(new RedisClientModel());
            channels.add(channel(i));
        }
        scope.contenders().chars().forEach(each -> {
            boolean waits = each < 'a';
            contenders.add(new RedisContenderModel(each - (waits ? '0' : 'a'), waits));
        });
        server = RedisModel.EMPTY.withSubscribed(channels);
        grants = RedisGrantHistory.NONE;
        now = START;
        stray = List.of();
        faults = new FaultBudget<>(scope.faults(), scope.possible());
        furtherAcquires = scope.furtherAcquires();
        renewals = !timed ? 0 : scope.options().contains(Option.SECOND_RENEWAL) ? 2 : 1;
        halfLeases = timed ? HALF_LEASES + renewals : 0;
    }

    RedisWorld(RedisWorld before) {
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

    static String channel(int client) {
        return "channel" + client;
    }

    RedisClientModel clientOf(RedisContenderModel contender) {
        return clients.get(contender.client);
    }

    @Override
    public List<Step<RedisWorld>> steps() {
        return new RedisWorldSteps(this).all();
    }

    @Override
    public Optional<String> violation() {
        return new RedisWorldCheck(this).violation();
    }

    @Override
    public List<String> situations() {
        return new RedisWorldCheck(this).situations();
    }

    @Override
    public void describe(StateKey key) {
        new RedisWorldKey(this).describe(key);
    }

    /** After expiry, the store has nothing of anybody. */
    @Override
    public boolean isFinal() {
        return haveAllEnded() && stored().findAny().isEmpty();
    }

    /** Returns the keys in the store but the counter of tokens. */
    Stream<String> stored() {
        return server.keys().keySet().stream().filter(key -> !key.equals(KEYS.counter()));
    }

    boolean haveAllEnded() {
        for (RedisContenderModel contender : contenders) {
            if (contender.core != CorePhase.DONE || contender.cleanup != Cleanup.NONE || contender.expiring) {
                return false;
            }
        }
        return clients.stream()
                .allMatch(client ->
                        !client.alive || (client.sent.isEmpty() && client.arriving.isEmpty() && client.connected));
    }

    // ---- the core

    @Override
    public void attempt(int i) {
        attempt(i, true);
    }

    /** @param usable whether enough of a lease that was handed off is left */
    void attempt(int i, boolean usable) {
        RedisContenderModel contender = contenders.get(i);
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
        RedisContenderModel contender = contenders.get(i);
        contender.core = CorePhase.ENDING;
        contender.token = 0;
        contender.validUntil = 0;
        contender.found = Found.NOTHING;
        grants = grants.forget(i);
        feed(i, contender.delayed ? new RedisContenderEvent.EndAfter(DELAY) : new RedisContenderEvent.End());
    }

    @Override
    public void giveUp(int i) {
        RedisContenderModel contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != CorePhase.ATTEMPTING) {
            end(i);
        }
    }

    void abandon(int i) {
        contenders.get(i).core = CorePhase.DONE;
        contenders.get(i).abandoned = true;
        feed(i, new RedisContenderEvent.Abandon());
    }

    void expire(int i) {
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

    void confirmed(int i, RedisContenderEvent outcome) {
        RedisContenderModel contender = contenders.get(i);
        contender.confirming = 0;
        if (outcome instanceof RedisContenderEvent.Confirmed
                && contender.protocol.phase() instanceof RedisContenderState.Confirming grant
                && grants.isLost(i, grant.token())) {
            broken = Optional.of("S01: a server without its data confirms token " + grant.token());
        }
        feed(i, outcome);
    }

    private void attemptEnded(int i, CorePhase then) {
        RedisContenderModel contender = contenders.get(i);
        expect(i, CorePhase.ATTEMPTING);
        contender.core = then;
        if (contender.gaveUp || !contender.waits) {
            end(i);
        }
    }

    private void granted(int i, long token, MonotonicInstant validUntil) {
        expect(i, CorePhase.ATTEMPTING);
        RedisContenderModel contender = contenders.get(i);
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
        RedisContenderModel contender = contenders.get(i);
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

    void feed(int i, RedisContenderEvent event) {
        RedisContenderState.Step step = scope.variant().machine().apply(contenders.get(i).protocol, event);
        contenders.get(i).protocol = step.state();
        step.effects().forEach(effect -> perform(i, effect));
    }

    private void perform(int i, RedisContenderEffect effect) {
        RedisContenderModel contender = contenders.get(i);
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
        RedisContenderModel contender = contenders.get(i);
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
                    contenders.add(new RedisContenderModel(contender.client, contender.waits));
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

    void send(int i, Script script, boolean withTime) {
        send(i, script, withTime, 0);
    }

    private void send(int i, Script script, boolean withTime, long token) {
        int at = contenders.get(i).client;
        RedisClientModel client = clients.get(at);
        long latest = client.knowsTime ? now : ServerTime.UNKNOWN.micros();
        Request request = new Request(
                at,
                i,
                script,
                withTime,
                token,
                client.epoch,
                now,
                latest + REQUEST_TIMEOUT,
                script != Script.SWEEP,
                false);
        if (client.connected) {
            client.sent = with(client.sent, request);
        } else {
            fail(request, true);
        }
    }

    private void fail(Request request, boolean notExecuted) {
        switch (request.script()) {
            case ACQUIRE -> {
                int sentIn = request.sentAgain() ? InDoubtRequests.OUT_OF_ORDER : request.epoch();
                feed(
                        request.contender(),
                        new RedisContenderEvent.AcquireFailed(
                                notExecuted, sentIn, new ServerTime(request.notAfter()), NO_REPLY));
            }
            case REMOVAL -> feed(request.contender(), new RedisContenderEvent.RemovalFailed(notExecuted, NO_REPLY));
            case DELAYED_RELEASE -> feed(request.contender(), new RedisContenderEvent.DelayFailed(NO_REPLY));
            default -> {}
        }
    }

    void timeOut(int at, Request request) {
        RedisClientModel client = clients.get(at);
        client.sent = client.sent.stream()
                .map(each -> each.equals(request) ? each.unawaited() : each)
                .toList();
        client.arriving = client.arriving.stream()
                .filter(each -> !request.equals(each.request()))
                .toList();
        fail(request, false);
    }

    /** The server may still execute what was sent; replies and messages are lost. */
    void cut(int at, boolean noticed) {
        RedisClientModel client = clients.get(at);
        List<Request> unanswered = client.unanswered().filter(Request::awaited).toList();
        if (scope.possible().contains(Fault.LATE_EXECUTION)) {
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

    void die(int at) {
        cut(at, true);
        clients.get(at).alive = false;
        for (int i = 0; i < contenders.size(); i++) {
            if (contenders.get(i).client == at) {
                RedisContenderModel dead = new RedisContenderModel(at, contenders.get(i).waits);
                dead.core = CorePhase.DONE;
                contenders.set(i, dead);
                grants = grants.forget(i);
            }
        }
    }

    void reconnect(int at) {
        RedisClientModel client = clients.get(at);
        client.connected = true;
        client.epoch++;
        Set<String> subscribed = new HashSet<>(server.subscribed());
        subscribed.add(channel(at));
        server = server.withSubscribed(subscribed);
        for (int i = 0; i < contenders.size(); i++) {
            RedisContenderModel contender = contenders.get(i);
            if (contender.client == at
                    && contender.registered
                    && !scope.variant().flaws().contains(Flaw.NO_WAKE_UP_ON_CONNECT)) {
                feed(i, new RedisContenderEvent.Woken());
            }
        }
    }

    /** @param plausible whether a token is in range */
    void receive(int at, Arrival arrival, boolean plausible) {
        Request request = arrival.request();
        if (request == null) {
            receiveMessage(at, arrival.message());
            return;
        }
        if (!request.awaited()) {
            return;
        }
        if (arrival.values().equals(NO_SCRIPT)) {
            clients.get(at).sent = with(clients.get(at).sent, request.again());
            return;
        }
        if (arrival.values().isEmpty()) {
            fail(request, true);
            return;
        }
        int i = request.contender();
        int epoch = clients.get(at).epoch;
        List<?> values = arrival.values();
        if (request.script() == Script.REMOVAL) {
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
        if (request.script() == Script.RENEWAL) {
            renewed(request, values.get(0).equals(1L));
            return;
        }
        ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
        if (request.script() == Script.DELAYED_RELEASE) {
            feed(i, new RedisContenderEvent.Delayed(epoch, time, values.get(0).equals(1L)));
            return;
        }
        clients.get(at).knowsTime = true;
        if (!plausible) {
            feed(i, new RedisContenderEvent.GrantedUnusable(epoch, time, NO_REPLY));
        } else if (arrival.isGrant()) {
            long token = values.size() == 1 ? time.micros() : (Long) values.get(1);
            boolean unconfirmed = scope.options().contains(Option.CONFIRMATION);
            MonotonicInstant until = instant(RedisLeaseTimes.granted(request.sent()));
            feed(i, new RedisContenderEvent.Granted(epoch, time, token, instant(request.sent()), until, unconfirmed));
        } else if (values.get(0).equals("busy")) {
            boolean waits = contenders.get(i).waits;
            feed(i, new RedisContenderEvent.Busy(epoch, time, instant(request.sent()), waits, 0));
        } else {
            feed(i, new RedisContenderEvent.Late(epoch, time));
        }
    }

    /** Tells the core of the reply to a renewal, which it ignores once it has begun to release. */
    private void renewed(Request request, boolean held) {
        RedisContenderModel contender = contenders.get(request.contender());
        if (contender.core != CorePhase.HOLDING) {
            return;
        }
        if (!held) {
            contender.token = 0;
            return;
        }
        long until = scope.variant().renewal().validUntil(contender.validUntil, request.sent(), now);
        if (contender.validUntil <= now && now < until) {
            broken = Optional.of("S06: contender " + request.contender() + " holds a lost lease again");
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
        RedisContenderModel contender = contenders.get(i);
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

    void arrive(int at, Arrival arrival) {
        RedisClientModel client = clients.get(at);
        if (client.connected && (arrival.request() == null || arrival.request().awaited())) {
            client.arriving = with(client.arriving, arrival);
        }
    }

    // ---- the server

    /** @param connected whether the request came on the present connection of its client, which takes the reply */
    void execute(Request request, boolean connected) {
        String attempt = RedisGrantHistory.attemptId(request.contender());
        RedisContenderModel contender = contenders.get(request.contender());
        RedisModel before = server;
        boolean isAnEnd = request.script() == Script.REMOVAL || request.script() == Script.DELAYED_RELEASE;
        if (connected && request.awaited() && isAnEnd && contender.core == CorePhase.ENDING) {
            contender.found = found(request);
        }
        RedisModel.Result result = switch (request.script()) {
            case ACQUIRE ->
                run(
                        RedisLockScript.ACQUIRE,
                        attempt,
                        attempt + " record",
                        String.valueOf(LEASE_MILLIS),
                        String.valueOf(request.notAfter()),
                        contender.waits ? channel(contender.client) : "",
                        String.valueOf(ENTRY_MILLIS),
                        "nonce");
            case DELAYED_RELEASE ->
                run(
                        RedisLockScript.RELEASE_AFTER,
                        attempt,
                        String.valueOf(DELAY.toMillis()),
                        String.valueOf(request.token()));
            case REMOVAL -> run(RedisLockScript.RELEASE, attempt, request.withTime() ? "1" : "0");
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
        if (request.script() == Script.RENEWAL
                && isRight
                && values.get(0).equals(1L) != grants.isGrantedTo(request.contender())) {
            broken = Optional.of("S07: the reply to " + request + " is " + values + " with " + grants.present());
        }
        if (connected) {
            arrive(contender.client, new Arrival(request, values, ""));
            if (values.get(0).equals("busy")) {
                grants = grants.busy(request.contender());
            }
        }
    }

    /** Returns an id with which a script removes nothing, and serves waiters. */
    private String sweepsAs(String attempt) {
        return scope.variant().flaws().contains(Flaw.SWEEP_NAMES_ATTEMPT) ? attempt : attempt + "-";
    }

    private Found found(Request request) {
        int i = request.contender();
        boolean isGranted =
                request.script() == Script.DELAYED_RELEASE ? grants.isNamedBy(request) : grants.isGrantedTo(i);
        if (isGranted) {
            return Found.GRANT;
        }
        return RedisGrantHistory.queueIn(server).anyMatch(each -> each == i) ? Found.ENTRY : Found.NOTHING;
    }

    void force() {
        String value = ((StoredValue.Text) Objects.requireNonNull(server.keys().get(KEYS.grant()))).text();
        run(RedisLockScript.FORCE_RELEASE, value);
        grantEnded(Cause.UNNOTICED);
    }

    void expireGrant() {
        server = server.run(now, "DEL", KEYS.grant()).next();
        grantEnded(Cause.EXPIRY);
    }

    private void grantEnded(Cause cause) {
        int holder = Objects.requireNonNull(grants.present()).contender();
        contenders.get(holder).token = 0; // whether the loss is noticed is not explored here
        grants = grants.ended(cause, contenders.get(holder).core.isAcquiring(), server);
    }

    void restart(boolean withData) {
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
        String lua = scope.variant().script().apply(script);
        if (scope.options().contains(Option.MANY_DEAD)) {
            lua = lua.replace("STEP = 1000, 100", "STEP = 1, 1");
        }
        RedisScriptRun run = new RedisScriptRun(server, now, lua, keys, List.of(args), timed);
        ScriptOutcome executed = run.outcome();
        RedisModel.Result result = executed.result();
        server = executed.server();
        broken = broken.or(executed::broken);
        for (RedisModel.Message message : result.published()) {
            String text = withoutSignature(message.text());
            if (text.startsWith("G") && scope.possible().contains(Fault.REPLAY)) {
                contenders.get(RedisGrantHistory.contender(text.split(" ", -1)[1])).lastMessage = text;
            }
            arrive(
                    Integer.parseInt(message.channel().substring("channel".length())),
                    new Arrival(null, List.of(), text));
        }
        return result;
    }

    private static String withoutSignature(String message) {
        String[] parts = message.split(" ", -1);
        return String.join(" ", List.of(parts).subList(0, parts[0].equals("W") ? 2 : 4));
    }

    void passHalfLease() {
        halfLeases--;
        now += HALF_LEASE;
        for (RedisContenderModel contender : contenders) {
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

    long wokenAt() {
        return server.keys().get(KEYS.entries()) instanceof StoredValue.Hash hash
                        && hash.fields().containsKey(WAKE)
                ? Long.parseLong(hash.fields().get(WAKE))
                : 0;
    }

    private static <T> List<T> with(List<T> list, T more) {
        List<T> all = new ArrayList<>(list);
        all.add(more);
        return List.copyOf(all);
    }
}
