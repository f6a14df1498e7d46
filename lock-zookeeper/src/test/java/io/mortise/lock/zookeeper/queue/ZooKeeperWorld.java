// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailAttempt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.FailEnd;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Listen;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Plain;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportEnded;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.ReportGranted;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.RetryWatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendList;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.SendRemoval;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unlisten;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Unwatch;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEffect.Watch;
import io.mortise.lock.zookeeper.queue.ZooKeeperScope.Fault;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.KeeperException;

/**
 * Contenders for one lock, the core that drives them, their sessions, and two ZooKeeper servers, at one moment. The state
 * machine is that of production; the core, the client's handle and the servers are modelled. Never changed after its step.
 *
 * <p>The first server is the leader. The second follows: it has the leader's transactions later, and serves reads from what it
 * has. Time is not modelled. A session's deadline is a step, and the server ends the session only after it.
 */
final class ZooKeeperWorld implements World<ZooKeeperWorld>, CorePhase.Calls {
    static final String LOCK = "/a";
    private static final Map<KeeperException.Code, KeeperException> FAILURES =
            new EnumMap<>(KeeperException.Code.class);

    final ZooKeeperScope scope;
    final List<ModelledClient> clients = new ArrayList<>();
    final List<ModelledContender> contenders = new ArrayList<>();
    final ModelledServers servers;
    FaultBudget<Fault> faults;
    long highestToken;
    Optional<String> broken = Optional.empty();

    /** The start: contenders that have made no request. */
    ZooKeeperWorld(ZooKeeperScope scope) {
        this.scope = scope;
        this.faults = new FaultBudget<>(scope.faults(), scope.possible());
        this.servers =
                new ModelledServers(scope.servers(), clients, scope.possible().contains(Fault.LATE_EXECUTION));
        for (int i = 0; i < scope.serverOfClient().size(); i++) {
            clients.add(new ModelledClient(session(i, 0), scope.serverOfClient().get(i)));
            servers.openSessions.add(session(i, 0));
        }
        for (int i = 0; i < scope.clientOfContender().size(); i++) {
            contenders.add(new ModelledContender(scope.clientOfContender().get(i), i));
        }
    }

    ZooKeeperWorld(ZooKeeperWorld from) {
        scope = from.scope;
        faults = from.faults;
        from.clients.forEach(each -> clients.add(new ModelledClient(each)));
        from.contenders.forEach(each -> contenders.add(new ModelledContender(each)));
        servers = new ModelledServers(from.servers, clients);
        highestToken = from.highestToken;
        broken = from.broken;
    }

    private static long session(int client, int number) {
        return client * 10L + number + 1;
    }

    private static KeeperException failure(KeeperException.Code code) {
        return FAILURES.computeIfAbsent(code, KeeperException::create);
    }

    @Override
    public List<Step<ZooKeeperWorld>> steps() {
        return ZooKeeperSteps.of(this);
    }

    void spendFault() {
        faults = faults.spent();
    }

    /** Returns this world after a step. */
    ZooKeeperWorld settled() {
        servers.catchUp(mayReconnect());
        if (!mayGrantOldToken()) {
            highestToken = 0;
        }
        return this;
    }

    /** Returns whether a node that was created before the latest grant still exists somewhere, or in somebody's mind. */
    private boolean mayGrantOldToken() {
        return servers.all.stream().anyMatch(each -> each.tree().zxid() < highestToken)
                || servers.all.stream()
                        .flatMap(each -> each.tree().nodes().values().stream())
                        .anyMatch(each -> each.owner() != 0 && isOld(each.czxid()))
                || clients.stream().flatMap(each -> each.arriving.stream()).anyMatch(each -> isOld(each.number()))
                || contenders.stream().anyMatch(each -> isOld(czxid(each.protocol.phase())));
    }

    /** Returns whether this is a transaction before the latest grant; smaller numbers are sessions. */
    private boolean isOld(long number) {
        return number > ModelledServers.FIRST_ZXID && number <= highestToken;
    }

    private static long czxid(ZooKeeperContenderState.Phase phase) {
        return phase instanceof ZooKeeperContenderState.InQueue queued
                ? queued.node().czxid()
                : phase instanceof ZooKeeperContenderState.Holding holding
                        ? holding.node().czxid()
                        : 0;
    }

    /** Returns whether a client, other than a new one, may still connect to a server. */
    boolean mayReconnect() {
        return Fault.LOSING_CONNECTIONS.stream().anyMatch(faults::allows)
                || (servers.isCutOff(1) && servers.hasClient(1))
                || clients.stream()
                        .anyMatch(
                                each -> !each.connected && !each.ended && servers.openSessions.contains(each.session));
    }

    // ---- the core

    @Override
    public void attempt(int i) {
        ModelledContender contender = contenders.get(i);
        contender.core = CorePhase.ATTEMPTING;
        contender.woken = false;
        feed(i, new ZooKeeperContenderEvent.Attempt());
    }

    @Override
    public void release(int i) {
        end(i);
    }

    @Override
    public void end(int i) {
        ModelledContender contender = contenders.get(i);
        contender.core = CorePhase.ENDING;
        contender.token = 0;
        contender.deferredWatch = false;
        if (contender.protocol.phase() instanceof ZooKeeperContenderState.Gone) {
            contender.removed = false; // the response came too late for the first try, and this one finds nothing
        }
        feed(i, new ZooKeeperContenderEvent.End());
    }

    @Override
    public void giveUp(int i) {
        ModelledContender contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != CorePhase.ATTEMPTING) {
            end(i);
        }
    }

    void timeOut(int i) {
        ModelledContender contender = contenders.get(i);
        contender.timedOut = true;
        if (contender.core == CorePhase.ENDING) {
            contender.core = CorePhase.END_FAILED;
        } else {
            attemptEnded(i, CorePhase.RETRYING);
        }
    }

    /** Returns whether the core waits for this outcome; another may only come after a timeout. */
    private boolean awaits(int i, CorePhase expected) {
        ModelledContender contender = contenders.get(i);
        if (contender.core != expected && !contender.timedOut) {
            broken = Optional.of("SPI: contender " + i + " has an outcome while " + contender.core);
        }
        return contender.core == expected;
    }

    private void attemptEnded(int i, CorePhase then) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        ModelledContender contender = contenders.get(i);
        contender.core = then;
        if (contender.gaveUp) {
            end(i);
        }
    }

    private void displaced(int i) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        ModelledContender contender = contenders.get(i);
        if (contender.gaveUp) {
            contender.core = CorePhase.DONE;
            return;
        }
        contender.core = CorePhase.NEW;
        contender.woken = false;
        contender.revoked = false;
        contender.deferredWatch = false;
        contender.incarnation++;
        contender.protocol = ModelledContender.initial(i, contender.incarnation);
        contender.inbox.clear();
        contender.dropsList = false;
        contender.removed = false;
    }

    private void granted(int i, long token) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        ModelledContender contender = contenders.get(i);
        if (contender.gaveUp || clients.get(contender.client).deadlinePassed) {
            end(i);
            return;
        }
        contender.core = CorePhase.HOLDING;
        contender.token = token;
        if (believes(i)) {
            if (token <= highestToken) {
                broken = Optional.of("S03: token " + token + " after " + highestToken);
            }
            highestToken = token;
        }
    }

    /** Returns whether {@code isHeld()} of the contender's lease is true, and no operator has taken the lock from it. */
    boolean believes(int i) {
        ModelledContender contender = contenders.get(i);
        return contender.core == CorePhase.HOLDING
                && !contender.revoked
                && !clients.get(contender.client).deadlinePassed
                && !clients.get(contender.client).ended;
    }

    // ---- the state machine

    /** Takes an event as {@code SerialMachine} does: what comes meanwhile waits. */
    void feed(int i, ZooKeeperContenderEvent event) {
        ModelledContender contender = contenders.get(i);
        contender.inbox.add(event);
        drain(i);
    }

    private void drain(int i) {
        ModelledContender contender = contenders.get(i);
        while (!contender.working && !contender.inbox.isEmpty()) {
            contender.working = true;
            ZooKeeperContenderState.Step step =
                    scope.variant().machine().apply(contender.protocol, contender.inbox.remove(0));
            contender.protocol = step.state();
            int incarnation = contender.incarnation;
            for (ZooKeeperContenderEffect effect : step.effects()) {
                if (contender.incarnation == incarnation) { // else what follows a report concerns nobody any more
                    perform(i, effect);
                }
            }
            contender.working = contender.unsentList != null;
        }
    }

    private void perform(int i, ZooKeeperContenderEffect effect) {
        ModelledContender contender = contenders.get(i);
        int at = contender.client;
        ModelledClient client = clients.get(at);
        if (effect instanceof Plain plain) {
            performPlain(i, plain);
        } else if (effect instanceof SendList list) {
            if (list.commitFirst()) {
                send(at, new Request(scope.variant().barrier(), i, contender.incarnation, LOCK, true));
            }
            Request request = new Request(RequestKind.LIST, i, contender.incarnation, LOCK, list.commitFirst());
            if (scope.possible().contains(Fault.PAUSE)) {
                contender.unsentList = request;
            } else {
                send(at, request);
            }
        } else if (effect instanceof SendRead read) {
            send(at, request(i, RequestKind.READ, read.path()));
        } else if (effect instanceof SendRemoval removal) {
            contender.deferredWatch = false;
            client.releasing.add(removal.path());
            send(at, request(i, RequestKind.DELETE, removal.path()));
        } else if (effect instanceof Listen listen) {
            client.listen(listen.path(), i);
        } else if (effect instanceof Unlisten unlisten) {
            client.unlisten(unlisten.path(), i);
        } else if (effect instanceof Watch watch) {
            client.listen(watch.path(), i);
            send(at, request(i, RequestKind.WATCH, watch.path()));
        } else if (effect instanceof Unwatch unwatch) {
            if (client.unlisten(unwatch.path(), i)) {
                client.watches.remove(unwatch.path());
                send(at, request(i, RequestKind.REMOVE_WATCH, unwatch.path()));
            }
        } else if (effect instanceof RetryWatch) {
            contender.deferredWatch = true;
        } else if (effect instanceof ReportGranted report) {
            granted(i, report.token());
        } else if (effect instanceof FailAttempt) {
            attemptEnded(i, CorePhase.RETRYING);
        } else if (effect instanceof ReportEnded report) {
            if (report.existed() != contender.removed && (report.existed() || !client.ended)) {
                broken = Optional.of("S05: the end of contender " + i + " says " + report.existed()
                        + ", and the last removal found " + contender.removed);
            }
            if (awaits(i, CorePhase.ENDING)) {
                contender.core = CorePhase.DONE;
            }
        } else if (effect instanceof FailEnd) {
            if (awaits(i, CorePhase.ENDING)) {
                contender.core = CorePhase.END_FAILED;
            }
        } else {
            throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void performPlain(int i, Plain effect) {
        ModelledContender contender = contenders.get(i);
        ModelledClient client = clients.get(contender.client);
        switch (effect) {
            case AWAIT_SESSION -> {
                if (client.ended) {
                    openSession(contender.client);
                }
                contender.inbox.add(new ZooKeeperContenderEvent.SessionReady());
            }
            case SEND_CREATE -> {
                if (client.ended) {
                    contender.inbox.add(new ZooKeeperContenderEvent.SessionEnded(true));
                    return;
                }
                client.registered.add(i);
                client.lockNodeUnused = false;
                send(contender.client, new Request(RequestKind.CREATE, i, contender.incarnation, prefix(i), true));
                send(contender.client, new Request(RequestKind.LIST, i, contender.incarnation, LOCK, true));
            }
            case SEND_CREATE_WITH_LOCK_NODE ->
                send(contender.client, request(i, RequestKind.CREATE_WITH_LOCK_NODE, prefix(i)));
            case DEREGISTER -> {
                contender.deferredWatch = false;
                client.registered.remove(i);
            }
            case LOCK_NODE_UNUSED -> client.lockNodeUnused = !client.ended;
            case DEFER_WATCH -> contender.deferredWatch = true;
            case DEFER_REMOVAL -> throw new IllegalStateException("only on an application's handle");
            case WAKE_WAITER ->
                contender.woken |= contender.core == CorePhase.ATTEMPTING || contender.core == CorePhase.WAITING;
            case REPORT_LOSS -> {
                if (contender.core == CorePhase.HOLDING) {
                    end(i);
                } else if (!contender.core.isAcquiring()) {
                    broken = Optional.of("S07: contender " + i + " is told of a loss after its end");
                }
            }
            case REPORT_WAITING -> attemptEnded(i, CorePhase.WAITING);
            case REPORT_NODE_DELETED, REPORT_SESSION_ENDED -> displaced(i);
            case FAIL_RESTLESS -> attemptEnded(i, CorePhase.RETRYING);
            case END_SESSION -> endSession(contender.client);
        }
    }

    private Request request(int i, RequestKind kind, String path) {
        return new Request(kind, i, contenders.get(i).incarnation, path, false);
    }

    private String prefix(int i) {
        return LOCK + "/" + contenders.get(i).protocol.identity().prefix();
    }

    /** The client throws an exception on sending a create or the list after it, and does not send the list. */
    void failCreate(int i) {
        ModelledContender contender = contenders.get(i);
        ModelledClient client = clients.get(contender.client);
        if (client.sent.get(client.sent.size() - 1).kind() == RequestKind.LIST) {
            for (List<Request> requests : List.of(client.sent, client.open)) {
                requests.remove(requests.size() - 1);
                if (contender.protocol.phase() instanceof ZooKeeperContenderState.Creating) {
                    requests.set(requests.size() - 1, request(i, RequestKind.CREATE, prefix(i)));
                }
            }
        }
        feed(i, new ZooKeeperContenderEvent.CreateFailed(new IllegalStateException("thrown by ZooKeeper's client")));
    }

    void sendList(int i) {
        ModelledContender contender = contenders.get(i);
        Request list = contender.unsentList;
        contender.unsentList = null;
        if (list != null && list.incarnation() == contender.incarnation) {
            send(contender.client, list);
        }
        contender.working = false;
        drain(i);
    }

    // ---- the client's handle and its registry of watches

    void send(int at, Request request) {
        ModelledClient client = clients.get(at);
        if (client.ended) {
            fail(at, request, KeeperException.Code.SESSIONEXPIRED);
            return;
        }
        client.sent.add(request);
        if (request.hasResponse()) {
            client.open.add(request);
        }
    }

    void execute(int at) {
        Request request = clients.get(at).sent.remove(0);
        if (request.kind() == RequestKind.DELETE
                && contenders.get(request.contender()).incarnation == request.incarnation()) {
            contenders.get(request.contender()).removed =
                    servers.leaderTree().nodes().containsKey(request.path());
        }
        servers.execute(at, request);
    }

    void receive(int at, Arrival arrival) {
        ModelledClient client = clients.get(at);
        if (arrival.request() == null) { // ZooKeeper's client takes the last transaction from responses only
            client.watches.remove(arrival.path());
            Set<Integer> notified = client.listeners.remove(arrival.path());
            boolean released = client.releasing.contains(arrival.path());
            if (notified != null) {
                notified.forEach(i ->
                        feed(i, new ZooKeeperContenderEvent.NodeDeleted(arrival.path(), client.connection, released)));
            }
            return;
        }
        client.lastZxid = Math.max(client.lastZxid, arrival.zxid());
        client.open.remove(0);
        if (arrival.code() != KeeperException.Code.OK) {
            fail(at, arrival.request(), arrival.code());
            return;
        }
        Request request = arrival.request();
        String path = request.path();
        if (request.kind() == RequestKind.WATCH) {
            client.watches.add(path);
        }
        if (request.kind() == RequestKind.DELETE) {
            client.releasing.remove(path);
        }
        ModelledContender contender = contenders.get(request.contender());
        if (contender.incarnation != request.incarnation()) {
            return;
        }
        if (request.kind() == RequestKind.LIST && request.paired() && contender.dropsList) {
            contender.dropsList = false;
            return;
        }
        long connection = client.connection;
        if (request.isBarrier()) {
            return; // only its failure counts
        }
        feed(
                request.contender(),
                switch (request.kind()) {
                    case CREATE, CREATE_WITH_LOCK_NODE ->
                        new ZooKeeperContenderEvent.Created(arrival.path(), arrival.number());
                    case LIST -> new ZooKeeperContenderEvent.Listed(arrival.children(), connection);
                    case READ -> new ZooKeeperContenderEvent.NodeRead(arrival.number());
                    case WATCH ->
                        new ZooKeeperContenderEvent.Watched(path, connection, arrival.number() == client.session);
                    case DELETE -> new ZooKeeperContenderEvent.Removed(arrival.number() == 1);
                    default -> throw new IllegalStateException("no response to " + request);
                });
    }

    private void fail(int at, Request request, KeeperException.Code code) {
        ModelledClient client = clients.get(at);
        if (request.kind() == RequestKind.DELETE) {
            client.releasing.remove(request.path());
        }
        if (!request.hasResponse() || contenders.get(request.contender()).incarnation != request.incarnation()) {
            return;
        }
        ModelledContender contender = contenders.get(request.contender());
        KeeperException failure = failure(code);
        if (request.kind() == RequestKind.LIST && request.paired() && contender.dropsList) {
            contender.dropsList = false;
            return;
        }
        contender.dropsList |= request.kind() != RequestKind.LIST && request.paired();
        feed(
                request.contender(),
                switch (request.kind()) {
                    case CREATE, CREATE_WITH_LOCK_NODE -> new ZooKeeperContenderEvent.CreateFailed(failure);
                    case SYNC, COMMIT_NO_OP, LIST -> new ZooKeeperContenderEvent.ListFailed(failure);
                    case READ -> new ZooKeeperContenderEvent.ReadFailed(failure);
                    case WATCH -> new ZooKeeperContenderEvent.WatchFailed(request.path(), client.connection, failure);
                    default -> new ZooKeeperContenderEvent.RemovalFailed(failure);
                });
    }

    /** The leader may still execute what was sent; responses and events are lost. */
    void cut(int at) {
        ModelledClient client = clients.get(at);
        servers.disconnect(at);
        List<Request> lost = List.copyOf(client.open);
        client.open.clear();
        client.connected = false;
        lost.forEach(request -> fail(at, request, KeeperException.Code.CONNECTIONLOSS));
        client.connection++;
    }

    /**
     * The servers elect a leader, maybe after a restart. All connections are lost, and what was sent on them is executed before
     * or never.
     *
     * @param oldLeaderServes whether the second server was the leader, is cut off, and serves its clients until it notices
     */
    void electLeader(boolean oldLeaderServes) {
        for (int i = 0; i < clients.size(); i++) {
            if (clients.get(i).connected && !(oldLeaderServes && clients.get(i).server == 1)) {
                cut(i);
            }
        }
        servers.strays.clear();
        servers.joinLeader();
        if (oldLeaderServes) {
            servers.sessionsOfOldLeader.addAll(servers.openSessions);
        }
    }

    /** The old leader notices that it is cut off, and becomes a follower. What was sent to it is lost. */
    void oldLeaderStepsDown() {
        for (int i = 0; i < clients.size(); i++) {
            if (clients.get(i).connected && clients.get(i).server == 1) {
                cut(i);
            }
        }
        servers.joinLeader();
    }

    void reconnect(int at, int server, List<String> deleted) {
        ModelledClient client = clients.get(at);
        client.connected = true;
        client.server = server;
        client.connection++;
        ZooKeeperTree tree = servers.get(server).tree();
        deleted.forEach(path -> client.arriving.add(Arrival.ofDeletion(path, tree.zxid())));
        client.watches.forEach(path -> servers.get(server).model.watch(at, path));
        List.copyOf(client.registered)
                .forEach(i -> feed(i, new ZooKeeperContenderEvent.Reconnected(client.connection)));
    }

    /** The client ends its session: leases are lost, then contenders are told, then the handle is closed. */
    void endSession(int at) {
        ModelledClient client = clients.get(at);
        if (client.ended) {
            return;
        }
        client.ended = true;
        client.lockNodeUnused = false;
        for (int i = 0; i < contenders.size(); i++) {
            if (contenders.get(i).client == at && contenders.get(i).core == CorePhase.HOLDING) {
                end(i);
            }
        }
        List.copyOf(client.registered).forEach(i -> feed(i, new ZooKeeperContenderEvent.SessionEnded(true)));
        servers.disconnect(at);
        client.connected = false;
        client.open.clear();
        client.registered.clear();
        client.listeners.clear();
        client.releasing.clear();
        client.watches.clear();
    }

    private void openSession(int at) {
        ModelledClient before = clients.get(at);
        int server = scope.serverOfClient().get(at);
        ModelledClient client = new ModelledClient(before.session + 1, servers.isCutOff(server) ? 0 : server);
        clients.set(at, client);
        servers.openSessions.add(client.session);
    }

    // ---- what the exploration asks

    @Override
    public Optional<String> violation() {
        return ZooKeeperChecks.violation(this);
    }

    @Override
    public boolean isFinal() {
        return ZooKeeperChecks.isFinal(this);
    }

    @Override
    public List<String> situations() {
        return ZooKeeperChecks.situations(this);
    }

    @Override
    public void describe(StateKey key) {
        ZooKeeperWorldKey.describe(this, key);
    }
}
