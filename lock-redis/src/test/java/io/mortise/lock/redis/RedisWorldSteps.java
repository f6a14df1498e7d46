// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redis.RedisClientModel.Arrival;
import io.mortise.lock.redis.RedisClientModel.Request;
import io.mortise.lock.redis.RedisClientModel.Script;
import io.mortise.lock.redis.RedisContenderModel.Cleanup;
import io.mortise.lock.redis.RedisScope.Fault;
import io.mortise.lock.redis.RedisScope.Flaw;
import io.mortise.lock.redis.RedisScope.Option;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.util.ArrayList;
import java.util.List;

/** Finds all that can happen next in a {@link RedisWorld}. */
record RedisWorldSteps(RedisWorld world) {
    /** Returns all that can happen next. */
    List<Step<RedisWorld>> all() {
        Steps<RedisWorld, RedisWorld, Fault> steps = new Steps<>(
                world.faults, () -> new RedisWorld(world), next -> next.faults = next.faults.spent(), next -> next);
        for (int i = 0; i < world.contenders.size(); i++) {
            if (world.clientOf(world.contenders.get(i)).alive) {
                stepsOfCore(i, steps);
            }
        }
        for (int i = 0; i < world.clients.size(); i++) {
            if (world.clients.get(i).alive) {
                stepsOfClient(i, steps);
            }
        }
        stepsOfNetwork(steps);
        stepsOfServer(steps);
        return steps.all();
    }

    private void stepsOfCore(int i, Steps<RedisWorld, RedisWorld, Fault> steps) {
        RedisContenderModel contender = world.contenders.get(i);
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
                if (world.scope.options().contains(Option.DELAYED_RELEASE)) {
                    steps.add(() -> who + "releases with a delay", Kind.OPTIONAL, next -> {
                        next.contenders.get(i).delayed = true;
                        next.end(i);
                    });
                }
                steps.fault(Fault.EXPIRY, () -> who + "does not renew until its deadline", next -> next.end(i));
                if (world.renewals > 0 && contender.token != 0 && world.clientOf(contender).connected) {
                    steps.add(() -> who + "renews", Kind.OPTIONAL, next -> {
                        next.renewals--;
                        next.send(i, Script.RENEWAL, false);
                    });
                }
            }
            case END_FAILED -> steps.fault(Fault.ABANDONED, () -> who + "is abandoned", next -> next.abandon(i));
            case DONE -> {
                if (world.furtherAcquires > 0) {
                    steps.add(() -> "client " + contender.client + " acquires again", Kind.OPTIONAL, next -> {
                        next.furtherAcquires--;
                        next.contenders.add(new RedisContenderModel(contender.client, true));
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
            boolean sameConnection = world.clientOf(contender).epoch == contender.confirming
                    || world.scope.variant().flaws().contains(Flaw.CONFIRM_OVER_ANY_CONNECTION);
            if (world.clientOf(contender).connected && sameConnection) {
                steps.progress(
                        () -> "the grant of " + who + "is confirmed",
                        next -> next.confirmed(i, new RedisContenderEvent.Confirmed(RedisWorld.ANY_TIME)));
                steps.fault(
                        Fault.NOT_CONFIRMED,
                        () -> "the grant of " + who + "is not confirmed",
                        next -> next.confirmed(i, new RedisContenderEvent.NotConfirmed(RedisWorld.NO_REPLY)));
            } else {
                steps.progress(
                        () -> "the grant of " + who + "is not confirmed, since its connection was lost",
                        next -> next.confirmed(i, new RedisContenderEvent.NotConfirmed(RedisWorld.NO_REPLY)));
            }
        }
    }

    private void stepsOfClient(int i, Steps<RedisWorld, RedisWorld, Fault> steps) {
        RedisClientModel client = world.clients.get(i);
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
            if (request.awaited() && !request.sentAgain()) {
                steps.fault(Fault.UNKNOWN_SCRIPT, () -> "the server does not know the script of " + request, next -> {
                    next.clients.get(i).sent = tail(client.sent);
                    next.arrive(i, new Arrival(request, RedisWorld.NO_SCRIPT, ""));
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
        if (world.faults.allows(Fault.SLOW_REPLY)) {
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
        for (int i = 0; i < world.stray.size(); i++) {
            Request request = world.stray.get(i);
            boolean first = world.stray.stream().limit(i).noneMatch(request::isOnConnectionOf);
            if (first) {
                int at = i;
                steps.add(() -> "the server executes " + request + " from a lost connection", Kind.OPTIONAL, next -> {
                    List<Request> others = new ArrayList<>(world.stray);
                    others.remove(at);
                    next.stray = List.copyOf(others);
                    next.execute(request, false);
                });
                steps.add(
                        () -> request + " is lost, and what followed it on its connection",
                        Kind.OPTIONAL,
                        next -> next.stray = world.stray.stream()
                                .filter(each -> !each.isOnConnectionOf(request))
                                .toList());
            }
        }
        for (int i = 0; i < world.contenders.size(); i++) {
            RedisContenderModel contender = world.contenders.get(i);
            if (!contender.lastMessage.isEmpty() && world.clientOf(contender).connected) {
                steps.fault(
                        Fault.REPLAY,
                        () -> "somebody publishes \"" + contender.lastMessage + "\" again",
                        next -> next.arrive(contender.client, new Arrival(null, List.of(), contender.lastMessage)));
            }
        }
    }

    private void stepsOfServer(Steps<RedisWorld, RedisWorld, Fault> steps) {
        if (timePasses()) {
            steps.progress(() -> "a long time passes", next -> next.now += RedisWorld.LONG_TIME);
        } else if (world.scope.options().contains(Option.LONG_HOLDING)
                && rowSince() > world.now - StateKey.LONG_GAP_MICROS) {
            steps.add(
                    () -> "the lock is held for a long time", Kind.OPTIONAL, next -> next.now += RedisWorld.LONG_TIME);
        }
        if (world.halfLeases > 0 && world.grants.present() != null && passesHalfLease()) {
            steps.add(() -> "half a lease passes", Kind.OPTIONAL, RedisWorld::passHalfLease);
        }
        steps.fault(
                Fault.CLOCK_SET_BACK,
                () -> "the server's clock is set back",
                next -> next.now -= RedisWorld.CLOCK_STEP);
        steps.fault(
                Fault.CLOCK_SET_FORWARD,
                () -> "the server's clock is set forward",
                next -> next.now += RedisWorld.LONG_TIME);
        steps.fault(Fault.RESTART, () -> "the server restarts", next -> next.restart(true));
        steps.fault(Fault.DATA_LOSS, () -> "the server restarts without its data", next -> next.restart(false));
        boolean nobodyWaits = world.haveAllEnded();
        Kind expiry = nobodyWaits ? Kind.PROGRESS : Kind.FALLBACK; // expiry hides no lost message then
        if (nobodyWaits && world.stored().anyMatch(key -> !key.equals(RedisGrantHistory.KEYS.grant()))) {
            steps.add(
                    () -> "the queue expires",
                    expiry,
                    next -> next.server = next.server
                            .run(world.now, "DEL", RedisGrantHistory.KEYS.queue(), RedisGrantHistory.KEYS.entries())
                            .next());
        }
        RedisGrantHistory.Grant grant = world.grants.present();
        if (grant == null) {
            return;
        }
        if (grant.kept()) {
            steps.add(() -> "the delay of a release has passed", expiry, RedisWorld::expireGrant);
        } else {
            RedisContenderModel contender = world.contenders.get(grant.contender());
            boolean expected = contender.abandoned || !world.clientOf(contender).alive;
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
        List<Request> unanswered =
                world.clients.stream().flatMap(RedisClientModel::unanswered).toList();
        return unanswered.stream().allMatch(request -> request.script() == Script.RENEWAL || !request.awaited())
                && (!unanswered.isEmpty()
                        || !world.stray.isEmpty()
                        || world.contenders.stream().anyMatch(contender -> contender.token != 0));
    }

    /** Returns whether time passes in which nothing else happens, until a late request is refused or a woken waiter is too. */
    private boolean timePasses() {
        boolean mayBeLate = world.wokenAt() > world.now - RedisWorld.REQUEST_TIMEOUT;
        for (RedisContenderModel contender : world.contenders) {
            InDoubtRequests inDoubt = contender.protocol.inDoubt();
            mayBeLate |= inDoubt.mayStillExecute() && inDoubt.notAfter() >= world.now;
        }
        for (Request request : world.stray) {
            mayBeLate |= request.notAfter() >= world.now;
        }
        return mayBeLate
                && world.clients.stream()
                        .flatMap(RedisClientModel::unanswered)
                        .noneMatch(request -> request.awaited() && request.script() == Script.ACQUIRE);
    }

    /** Returns when the first hand-off of the present row took place; 0 if there is none, or nobody waits. */
    private long rowSince() {
        String grant = world.server.keys().get(RedisGrantHistory.KEYS.grant()) instanceof StoredValue.Text text
                ? text.text()
                : "";
        int row = grant.indexOf(" row=");
        return row < 0 || !world.server.keys().containsKey(RedisGrantHistory.KEYS.queue())
                ? 0
                : Long.parseLong(grant.substring(grant.indexOf(':', row) + 1));
    }

    private static <T> List<T> tail(List<T> list) {
        return List.copyOf(list.subList(1, list.size()));
    }
}
