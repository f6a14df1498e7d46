// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.Ranks;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.zookeeper.ZooKeeperServerModel;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CloseSession;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Create;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CreateInContainer;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Delete;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Outcome;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their sessions, and two ZooKeeper servers, at one moment. The state
 * machine is that of production; the core, the client's handle and the servers are modelled. Never changed after its step.
 *
 * <p>The first server is the leader. The second follows: it has the leader's transactions later, and serves reads from what it
 * has. Time is not modelled. A session's deadline is a step, and the server ends the session only after it.
 */
final class ZooKeeperWorld implements World<ZooKeeperWorld> {
    private static final String LOCK = "/a";
    private static final int SEQUENCE_DIGITS = 10;
    private static final long FIRST_ZXID = 1_000_000_000_000_000L; // 16 digits, so that only its rank counts
    private static final Map<KeeperException.Code, KeeperException> FAILURES =
            new EnumMap<>(KeeperException.Code.class);

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param provesSessions whether a server ends a session only after the client's deadline
     */
    record Variant(
            BiFunction<ZooKeeperContenderState, ZooKeeperContenderEvent, ZooKeeperContenderState.Step> machine,
            boolean provesSessions) {
        static final Variant PRODUCTION = new Variant(ZooKeeperContenderState::on, true);
    }

    /**
     * What is explored.
     *
     * @param clientOfContender the client of each contender
     * @param serverOfClient the server to which each client is connected at first
     * @param servers 1, or 2 with a follower
     * @param faults the number of faults
     * @param possible the kinds of faults
     * @param givingUp whether callers may give up
     */
    record Scope(
            List<Integer> clientOfContender,
            List<Integer> serverOfClient,
            int servers,
            int faults,
            Set<Fault> possible,
            boolean givingUp,
            Variant variant) {}

    /** What may go wrong, once for each fault that is left. */
    enum Fault {
        /** A connection is lost, with the responses and events on it. */
        CUT,
        /** A request of a lost connection is executed later, but before what its client sends on another. Needs a cut. */
        LATE_EXECUTION,
        /** The client may not register its watches again on a new connection. Needs a cut. */
        WATCHES_FORGOTTEN,
        /** A response does not come in time for the core. */
        SLOW_RESPONSE,
        /** The session has not been proved alive until its deadline. */
        DEADLINE,
        /** An operator deletes a node. */
        OPERATOR,
        /** A thread stands still before it sends a list, so that the connection may be another than it believes. Free. */
        PAUSE
    }

    enum RequestKind {
        CREATE,
        CREATE_WITH_LOCK_NODE,
        SYNC,
        LIST,
        READ,
        WATCH,
        REMOVE_WATCH,
        DELETE,
        DELETE_LOCK_NODE
    }

    /**
     * A request.
     *
     * @param paired whether it is a list whose response is dropped if the request before it fails
     */
    record Request(RequestKind kind, int contender, int incarnation, String path, boolean paired) {
        boolean hasResponse() {
            return kind != RequestKind.REMOVE_WATCH && kind != RequestKind.DELETE_LOCK_NODE;
        }

        /** Returns whether it goes through the leader. */
        boolean isOrdered() {
            return switch (kind) {
                case CREATE, CREATE_WITH_LOCK_NODE, SYNC, DELETE, DELETE_LOCK_NODE -> true;
                case LIST, READ, WATCH, REMOVE_WATCH -> false;
            };
        }

        @Override
        public String toString() {
            return kind + " " + path + " of contender " + contender;
        }
    }

    /** A response, or an event if it has no request. */
    record Arrival(
            @Nullable Request request,
            KeeperException.Code code,
            String path,
            long number,
            List<String> children,
            long zxid) {
        @Override
        public String toString() {
            return request == null ? "deletion of " + path : code + " " + path + " " + children + " for " + request;
        }
    }

    /** A transaction, or a sync if it writes nothing, on its way to the follower; with whom to respond to. */
    record Commit(
            @Nullable Write write,
            int client,
            long session,
            long connection,
            @Nullable Request request) {
        @Override
        public String toString() {
            return request != null ? request.toString() : String.valueOf(write);
        }
    }

    /** A request of a connection that was lost. */
    record Stray(int client, long session, Request request) {}

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

    private static final class Server {
        final ZooKeeperServerModel model;
        final List<Commit> backlog;

        Server() {
            model = new ZooKeeperServerModel(ZooKeeperTree.empty(FIRST_ZXID));
            backlog = new ArrayList<>();
        }

        Server(Server from) {
            model = new ZooKeeperServerModel(from.model);
            backlog = new ArrayList<>(from.backlog);
        }

        ZooKeeperTree tree() {
            return model.tree();
        }
    }

    /** A process with its handle, session, and registry of watches. */
    private static final class Client {
        long session;
        boolean connected = true;
        int server;
        long connection = 1;
        long lastZxid;
        boolean deadlinePassed;
        boolean ended;
        boolean lockNodeUnused;
        final List<Request> sent; // not executed
        final List<Request> open; // without a response
        final List<Arrival> arriving;
        final Map<String, Set<Integer>> listeners; // sorted, as the sets
        final TreeSet<String> releasing;
        final TreeSet<String> watches;
        final TreeSet<Integer> registered;

        Client(long session, int server) {
            this.session = session;
            this.server = server;
            sent = new ArrayList<>();
            open = new ArrayList<>();
            arriving = new ArrayList<>();
            listeners = new TreeMap<>();
            releasing = new TreeSet<>();
            watches = new TreeSet<>();
            registered = new TreeSet<>();
        }

        Client(Client from) {
            session = from.session;
            connected = from.connected;
            server = from.server;
            connection = from.connection;
            lastZxid = from.lastZxid;
            deadlinePassed = from.deadlinePassed;
            ended = from.ended;
            lockNodeUnused = from.lockNodeUnused;
            sent = new ArrayList<>(from.sent);
            open = new ArrayList<>(from.open);
            arriving = new ArrayList<>(from.arriving);
            listeners = copy(from.listeners);
            releasing = new TreeSet<>(from.releasing);
            watches = new TreeSet<>(from.watches);
            registered = new TreeSet<>(from.registered);
        }
    }

    private static final class Contender {
        final int client;
        int incarnation;
        ZooKeeperContenderState protocol;
        Core core = Core.NEW;
        boolean woken;
        boolean gaveUp;
        boolean timedOut; // so that an outcome may come without a call
        boolean revoked; // an operator deleted the node while it was the head of the queue
        boolean deferredWatch;
        boolean dropsList; // whether the next response to a paired list is dropped
        boolean working; // the machine is taking an event

        @Nullable
        Request unsentList; // of a thread that stands still

        long token;
        final List<ZooKeeperContenderEvent> inbox;

        Contender(int client, int i) {
            this.client = client;
            this.protocol = initial(i, 0);
            inbox = new ArrayList<>();
        }

        Contender(Contender from) {
            client = from.client;
            incarnation = from.incarnation;
            protocol = from.protocol;
            core = from.core;
            woken = from.woken;
            gaveUp = from.gaveUp;
            timedOut = from.timedOut;
            revoked = from.revoked;
            deferredWatch = from.deferredWatch;
            dropsList = from.dropsList;
            working = from.working;
            unsentList = from.unsentList;
            token = from.token;
            inbox = new ArrayList<>(from.inbox);
        }
    }

    private final Scope scope;
    private final List<Server> servers = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final List<Contender> contenders = new ArrayList<>();
    private final List<Stray> strays;
    private final TreeSet<Long> openSessions;
    private int faults;
    private long highestToken;
    private Optional<String> broken = Optional.empty();

    /** The start: contenders that have made no request. */
    ZooKeeperWorld(Scope scope) {
        this.scope = scope;
        this.faults = scope.faults;
        this.strays = new ArrayList<>();
        this.openSessions = new TreeSet<>();
        for (int i = 0; i < scope.servers; i++) {
            servers.add(new Server());
        }
        for (int i = 0; i < scope.serverOfClient.size(); i++) {
            clients.add(new Client(session(i, 0), scope.serverOfClient.get(i)));
            openSessions.add(session(i, 0));
        }
        for (int i = 0; i < scope.clientOfContender.size(); i++) {
            contenders.add(new Contender(scope.clientOfContender.get(i), i));
        }
    }

    private ZooKeeperWorld(ZooKeeperWorld from) {
        scope = from.scope;
        faults = from.faults;
        strays = new ArrayList<>(from.strays);
        openSessions = new TreeSet<>(from.openSessions);
        from.servers.forEach(each -> servers.add(new Server(each)));
        from.clients.forEach(each -> clients.add(new Client(each)));
        from.contenders.forEach(each -> contenders.add(new Contender(each)));
        highestToken = from.highestToken;
        broken = from.broken;
    }

    private static Map<String, Set<Integer>> copy(Map<String, Set<Integer>> from) {
        Map<String, Set<Integer>> copied = new TreeMap<>();
        from.forEach((path, values) -> copied.put(path, new TreeSet<>(values)));
        return copied;
    }

    private static long session(int client, int number) {
        return client * 10L + number + 1;
    }

    private static String attemptId(int contender, int incarnation) {
        return "#" + contender + incarnation;
    }

    private static ZooKeeperContenderState initial(int contender, int incarnation) {
        return ZooKeeperContenderState.initial(LOCK, ContenderNode.prefix(attemptId(contender, incarnation)), true);
    }

    private static int contenderOf(String name) {
        return name.charAt(name.indexOf('#') + 1) - '0';
    }

    private static KeeperException failure(KeeperException.Code code) {
        return FAILURES.computeIfAbsent(code, KeeperException::create);
    }

    private boolean may(Fault fault) {
        return faults > 0 && scope.possible.contains(fault);
    }

    private ZooKeeperTree leaderTree() {
        return servers.get(0).tree();
    }

    /** Returns the queue as the leader has it. */
    private List<String> queue() {
        return ContenderNode.queue(leaderTree().children(LOCK).orElse(List.of()), Optional.empty()).stream()
                .map(ContenderNode::name)
                .toList();
    }

    // ---- steps

    @Override
    public List<Step<ZooKeeperWorld>> steps() {
        List<Step<ZooKeeperWorld>> steps = new ArrayList<>();
        for (int i = 0; i < contenders.size(); i++) {
            stepsOfCore(i, steps);
        }
        for (int i = 0; i < clients.size(); i++) {
            stepsOfClient(i, steps);
            stepsOfSession(i, steps);
        }
        stepsOfServers(steps);
        return steps;
    }

    private void add(List<Step<ZooKeeperWorld>> steps, String label, Kind kind, Consumer<ZooKeeperWorld> change) {
        ZooKeeperWorld next = new ZooKeeperWorld(this);
        change.accept(next);
        next.catchUp();
        steps.add(new Step<>(label, kind, next));
    }

    private void addFault(List<Step<ZooKeeperWorld>> steps, String label, Consumer<ZooKeeperWorld> change) {
        add(steps, label, Kind.OPTIONAL, next -> {
            next.faults--;
            change.accept(next);
        });
    }

    private void stepsOfCore(int i, List<Step<ZooKeeperWorld>> steps) {
        Contender contender = contenders.get(i);
        String who = "contender " + i + " ";
        switch (contender.core) {
            case NEW -> add(steps, who + "makes its first attempt", Kind.PROGRESS, next -> next.attempt(i));
            case WAITING ->
                add(
                        steps,
                        who + (contender.woken ? "tries again, since it was woken" : "tries again after the fallback"),
                        contender.woken ? Kind.PROGRESS : Kind.FALLBACK,
                        next -> next.attempt(i));
            case RETRYING -> add(steps, who + "tries again after a failure", Kind.PROGRESS, next -> next.attempt(i));
            case HOLDING -> add(steps, who + "releases", Kind.PROGRESS, next -> next.end(i));
            case END_FAILED -> add(steps, who + "ends again after a failure", Kind.PROGRESS, next -> next.end(i));
            default -> {}
        }
        boolean waits =
                contender.core == Core.ATTEMPTING || contender.core == Core.WAITING || contender.core == Core.RETRYING;
        if (waits && !contender.gaveUp && scope.givingUp) {
            add(steps, who + "gives up", Kind.OPTIONAL, next -> next.giveUp(i));
        }
        if (may(Fault.SLOW_RESPONSE) && (contender.core == Core.ATTEMPTING || contender.core == Core.ENDING)) {
            addFault(steps, who + "has no response in time", next -> next.timeOut(i));
        }
        if (may(Fault.DEADLINE) && contender.core == Core.END_FAILED) {
            addFault(steps, who + "is abandoned", next -> {
                next.feed(i, new ZooKeeperContenderEvent.Abandon());
            });
        }
        if (contender.deferredWatch) {
            add(steps, who + "has held the lock for long", Kind.OPTIONAL, next -> {
                next.contenders.get(i).deferredWatch = false;
                next.feed(i, new ZooKeeperContenderEvent.WatchDue(next.clients.get(contender.client).connection));
            });
        }
        if (contender.unsentList != null) {
            add(steps, who + "goes on and sends its list", Kind.PROGRESS, next -> next.sendList(i));
        }
    }

    private void stepsOfClient(int i, List<Step<ZooKeeperWorld>> steps) {
        Client client = clients.get(i);
        String who = "client " + i;
        if (client.lockNodeUnused && !client.ended) {
            add(steps, who + " deletes the unused lock node", Kind.PROGRESS, next -> {
                next.clients.get(i).lockNodeUnused = false;
                next.send(i, new Request(RequestKind.DELETE_LOCK_NODE, -1, 0, LOCK, false));
            });
        }
        if (client.ended) {
            return;
        }
        if (!client.connected) {
            if (openSessions.contains(client.session)) {
                for (int server = 0; server < servers.size(); server++) {
                    stepsOfReconnect(i, server, steps);
                }
            }
            return;
        }
        if (!client.sent.isEmpty() && !isBlocked(i)) {
            add(steps, "server " + client.server + " executes " + client.sent.get(0), Kind.PROGRESS, next -> {
                next.execute(i, next.clients.get(i).sent.remove(0));
            });
        }
        if (!client.arriving.isEmpty()) {
            add(steps, who + " receives " + client.arriving.get(0), Kind.PROGRESS, next -> {
                next.receive(i, next.clients.get(i).arriving.remove(0));
            });
        }
        if (may(Fault.CUT)) {
            addFault(steps, "the connection of " + who + " is cut", next -> next.cut(i));
        }
    }

    /** The follower serves a client in order, so what the client has sent waits for its transactions. */
    private boolean isBlocked(int i) {
        Client client = clients.get(i);
        return servers.get(client.server).backlog.stream()
                .anyMatch(each -> each.client == i && each.connection == client.connection);
    }

    private boolean hasClient(int server) {
        return clients.stream().anyMatch(client -> client.connected && client.server == server);
    }

    /** A follower without a client applies what it lags behind when a client connects, or some of it. */
    private void stepsOfReconnect(int i, int server, List<Step<ZooKeeperWorld>> steps) {
        stepsOfReconnectNow(i, server, steps);
        if (!hasClient(server)) {
            ZooKeeperWorld ahead = new ZooKeeperWorld(this);
            while (!ahead.servers.get(server).backlog.isEmpty()) {
                ahead.apply(server, ahead.servers.get(server).backlog.remove(0));
                ahead.stepsOfReconnectNow(i, server, steps);
            }
        }
    }

    private void stepsOfReconnectNow(int i, int server, List<Step<ZooKeeperWorld>> steps) {
        Client client = clients.get(i);
        ZooKeeperTree tree = servers.get(server).tree();
        if (tree.zxid() < client.lastZxid) {
            return; // the server refuses clients that have seen more than it has
        }
        String label = "client " + i + " connects to server " + server + " after transaction " + tree.zxid();
        List<String> deleted = servers.get(server).model.missed(client.watches);
        for (List<String> order : orders(deleted)) {
            add(steps, label + ", which reports " + order, Kind.PROGRESS, next -> next.reconnect(i, server, order));
        }
        if (scope.possible.contains(Fault.WATCHES_FORGOTTEN) && !client.watches.isEmpty()) {
            add(steps, label + " without its watches", Kind.PROGRESS, next -> {
                next.clients.get(i).watches.clear();
                next.reconnect(i, server, List.of());
            });
        }
    }

    /** Returns all orders of a list. */
    private static List<List<String>> orders(List<String> list) {
        if (list.size() < 2) {
            return List.of(list);
        }
        List<List<String>> all = new ArrayList<>();
        for (String first : list) {
            List<String> others =
                    list.stream().filter(each -> !each.equals(first)).toList();
            for (List<String> rest : orders(others)) {
                List<String> order = new ArrayList<>(List.of(first));
                order.addAll(rest);
                all.add(order);
            }
        }
        return all;
    }

    private void stepsOfSession(int i, List<Step<ZooKeeperWorld>> steps) {
        Client client = clients.get(i);
        if (!client.deadlinePassed && !client.ended && may(Fault.DEADLINE)) {
            addFault(
                    steps,
                    "the deadline of client " + i + " passes",
                    next -> next.clients.get(i).deadlinePassed = true);
        }
        if (client.deadlinePassed && !client.ended) {
            add(steps, "client " + i + " ends its session", Kind.PROGRESS, next -> next.endSession(i));
        }
    }

    private void stepsOfServers(List<Step<ZooKeeperWorld>> steps) {
        for (long session : openSessions) {
            int i = (int) (session / 10);
            Client client = clients.get(i);
            boolean outdated = client.session != session || client.deadlinePassed || client.ended;
            boolean early = !scope.variant.provesSessions && may(Fault.DEADLINE);
            if (outdated || early) {
                List<Boolean> orders = leaderTree().nodes().values().stream()
                                        .filter(each -> each.owner() == session)
                                        .count()
                                > 1
                        ? List.of(false, true)
                        : List.of(false);
                for (boolean reversed : orders) {
                    add(
                            steps,
                            "the server closes session " + session + (reversed ? ", in reverse" : ""),
                            outdated ? Kind.PROGRESS : Kind.OPTIONAL,
                            next -> {
                                next.faults -= outdated ? 0 : 1;
                                next.closeSession(session, reversed);
                            });
                }
            }
        }
        for (int i = 1; i < servers.size(); i++) {
            int follower = i;
            if (!servers.get(i).backlog.isEmpty() && hasClient(i)) {
                add(steps, "the follower applies " + servers.get(i).backlog.get(0), Kind.PROGRESS, next -> {
                    next.apply(follower, next.servers.get(follower).backlog.remove(0));
                });
            }
        }
        for (int i = 0; i < strays.size(); i++) {
            Stray stray = strays.get(i);
            boolean isFirst = strays.subList(0, i).stream().noneMatch(each -> each.session == stray.session);
            if (isFirst) {
                int index = i;
                add(steps, "the leader executes " + stray + " of a lost connection", Kind.OPTIONAL, next -> {
                    next.strays.remove(index);
                    next.commit(write(stray.request, stray.session), stray.client, stray.session, -1, null);
                });
                add(steps, stray + " is lost with its connection", Kind.PROGRESS, next -> next.strays.remove(index));
            }
        }
        if (may(Fault.OPERATOR)) {
            List<String> queue = queue();
            for (int position = 0; position < queue.size(); position++) {
                String name = queue.get(position);
                boolean isHead = position == 0;
                addFault(steps, "an operator deletes " + name, next -> {
                    next.contenders.get(contenderOf(name)).revoked |= isHead;
                    next.commit(new Delete(LOCK + "/" + name), -1, 0, -1, null);
                });
            }
        }
    }

    // ---- the core

    private void attempt(int i) {
        Contender contender = contenders.get(i);
        contender.core = Core.ATTEMPTING;
        contender.woken = false;
        feed(i, new ZooKeeperContenderEvent.Attempt());
    }

    private void end(int i) {
        Contender contender = contenders.get(i);
        contender.core = Core.ENDING;
        contender.token = 0;
        contender.deferredWatch = false;
        feed(i, new ZooKeeperContenderEvent.End());
    }

    private void giveUp(int i) {
        Contender contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != Core.ATTEMPTING) {
            end(i);
        }
    }

    private void timeOut(int i) {
        Contender contender = contenders.get(i);
        contender.timedOut = true;
        if (contender.core == Core.ENDING) {
            contender.core = Core.END_FAILED;
        } else {
            attemptEnded(i, Core.RETRYING);
        }
    }

    /** Returns whether the core waits for this outcome; another may only come after a timeout. */
    private boolean awaits(int i, Core expected) {
        Contender contender = contenders.get(i);
        if (contender.core != expected && !contender.timedOut) {
            broken = Optional.of("contender " + i + " has an outcome while " + contender.core);
        }
        return contender.core == expected;
    }

    private void attemptEnded(int i, Core then) {
        if (!awaits(i, Core.ATTEMPTING)) {
            return;
        }
        Contender contender = contenders.get(i);
        contender.core = then;
        if (contender.gaveUp) {
            end(i);
        }
    }

    private void displaced(int i) {
        if (!awaits(i, Core.ATTEMPTING)) {
            return;
        }
        Contender contender = contenders.get(i);
        if (contender.gaveUp) {
            contender.core = Core.DONE;
            return;
        }
        contender.core = Core.NEW;
        contender.woken = false;
        contender.revoked = false;
        contender.deferredWatch = false;
        contender.incarnation++;
        contender.protocol = initial(i, contender.incarnation);
        contender.inbox.clear();
        contender.dropsList = false;
    }

    private void granted(int i, long token) {
        if (!awaits(i, Core.ATTEMPTING)) {
            return;
        }
        Contender contender = contenders.get(i);
        if (contender.gaveUp || clients.get(contender.client).deadlinePassed) {
            end(i);
            return;
        }
        contender.core = Core.HOLDING;
        contender.token = token;
        if (believes(i)) {
            if (token <= highestToken) {
                broken = Optional.of("S03: token " + token + " after " + highestToken);
            }
            highestToken = token;
        }
    }

    /** Returns whether {@code isHeld()} of the contender's lease is true, and no operator has taken the lock from it. */
    private boolean believes(int i) {
        Contender contender = contenders.get(i);
        return contender.core == Core.HOLDING
                && !contender.revoked
                && !clients.get(contender.client).deadlinePassed
                && !clients.get(contender.client).ended;
    }

    // ---- the state machine

    /** Takes an event as {@code SerialMachine} does: what comes meanwhile waits. */
    private void feed(int i, ZooKeeperContenderEvent event) {
        Contender contender = contenders.get(i);
        contender.inbox.add(event);
        drain(i);
    }

    private void drain(int i) {
        Contender contender = contenders.get(i);
        while (!contender.working && !contender.inbox.isEmpty()) {
            contender.working = true;
            ZooKeeperContenderState.Step step =
                    scope.variant.machine.apply(contender.protocol, contender.inbox.remove(0));
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
        Contender contender = contenders.get(i);
        int at = contender.client;
        Client client = clients.get(at);
        if (effect instanceof Plain plain) {
            performPlain(i, plain);
        } else if (effect instanceof SendList list) {
            if (list.syncFirst()) {
                send(at, request(i, RequestKind.SYNC, LOCK));
            }
            Request request = new Request(RequestKind.LIST, i, contender.incarnation, LOCK, list.syncFirst());
            if (scope.possible.contains(Fault.PAUSE)) {
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
            listen(client, listen.path(), i);
        } else if (effect instanceof Unlisten unlisten) {
            unlisten(client, unlisten.path(), i);
        } else if (effect instanceof Watch watch) {
            listen(client, watch.path(), i);
            send(at, request(i, RequestKind.WATCH, watch.path()));
        } else if (effect instanceof Unwatch unwatch) {
            if (unlisten(client, unwatch.path(), i)) {
                client.watches.remove(unwatch.path());
                send(at, request(i, RequestKind.REMOVE_WATCH, unwatch.path()));
            }
        } else if (effect instanceof RetryWatch) {
            contender.deferredWatch = true;
        } else if (effect instanceof ReportGranted report) {
            granted(i, report.token());
        } else if (effect instanceof FailAttempt) {
            attemptEnded(i, Core.RETRYING);
        } else if (effect instanceof ReportEnded) {
            if (awaits(i, Core.ENDING)) {
                contender.core = Core.DONE;
            }
        } else if (effect instanceof FailEnd) {
            if (awaits(i, Core.ENDING)) {
                contender.core = Core.END_FAILED;
            }
        } else {
            throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void performPlain(int i, Plain effect) {
        Contender contender = contenders.get(i);
        Client client = clients.get(contender.client);
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
                send(contender.client, request(i, RequestKind.CREATE, prefix(i)));
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
            case WAKE_WAITER -> contender.woken |= contender.core == Core.ATTEMPTING || contender.core == Core.WAITING;
            case REPORT_LOSS -> {
                if (contender.core == Core.HOLDING) {
                    end(i);
                }
            }
            case REPORT_WAITING -> attemptEnded(i, Core.WAITING);
            case REPORT_NODE_DELETED, REPORT_SESSION_ENDED -> displaced(i);
            case FAIL_RESTLESS -> attemptEnded(i, Core.RETRYING);
            case END_SESSION -> endSession(contender.client);
        }
    }

    private Request request(int i, RequestKind kind, String path) {
        return new Request(kind, i, contenders.get(i).incarnation, path, false);
    }

    private String prefix(int i) {
        return LOCK + "/" + ContenderNode.prefix(attemptId(i, contenders.get(i).incarnation));
    }

    private void sendList(int i) {
        Contender contender = contenders.get(i);
        Request list = contender.unsentList;
        contender.unsentList = null;
        if (list != null && list.incarnation == contender.incarnation) {
            send(contender.client, list);
        }
        contender.working = false;
        drain(i);
    }

    // ---- the client's handle and its registry of watches

    private static void listen(Client client, String path, int i) {
        client.listeners.computeIfAbsent(path, key -> new TreeSet<>()).add(i);
    }

    /** Returns whether the last listener was removed. */
    private static boolean unlisten(Client client, String path, int i) {
        Set<Integer> onPath = client.listeners.get(path);
        if (onPath == null || !onPath.remove(i) || !onPath.isEmpty()) {
            return false;
        }
        client.listeners.remove(path);
        return true;
    }

    private void send(int at, Request request) {
        Client client = clients.get(at);
        if (client.ended) {
            fail(at, request, KeeperException.Code.SESSIONEXPIRED);
            return;
        }
        client.sent.add(request);
        if (request.hasResponse()) {
            client.open.add(request);
        }
    }

    private void receive(int at, Arrival arrival) {
        Client client = clients.get(at);
        if (arrival.request == null) { // ZooKeeper's client takes the last transaction from responses only
            client.watches.remove(arrival.path);
            Set<Integer> notified = client.listeners.remove(arrival.path);
            boolean released = client.releasing.contains(arrival.path);
            if (notified != null) {
                notified.forEach(i ->
                        feed(i, new ZooKeeperContenderEvent.NodeDeleted(arrival.path, client.connection, released)));
            }
            return;
        }
        client.lastZxid = Math.max(client.lastZxid, arrival.zxid);
        client.open.remove(0);
        if (arrival.code != KeeperException.Code.OK) {
            fail(at, arrival.request, arrival.code);
            return;
        }
        Request request = arrival.request;
        String path = request.path;
        if (request.kind == RequestKind.WATCH) {
            client.watches.add(path);
        }
        if (request.kind == RequestKind.DELETE) {
            client.releasing.remove(path);
        }
        Contender contender = contenders.get(request.contender);
        if (contender.incarnation != request.incarnation) {
            return;
        }
        if (request.paired && contender.dropsList) {
            contender.dropsList = false;
            return;
        }
        long connection = client.connection;
        if (request.kind == RequestKind.SYNC) {
            return; // only its failure counts
        }
        feed(
                request.contender,
                switch (request.kind) {
                    case CREATE, CREATE_WITH_LOCK_NODE ->
                        new ZooKeeperContenderEvent.Created(arrival.path, arrival.number);
                    case LIST -> new ZooKeeperContenderEvent.Listed(arrival.children, connection);
                    case READ -> new ZooKeeperContenderEvent.NodeRead(arrival.number);
                    case WATCH ->
                        new ZooKeeperContenderEvent.Watched(path, connection, arrival.number == client.session);
                    case DELETE -> new ZooKeeperContenderEvent.Removed(arrival.number == 1);
                    default -> throw new IllegalStateException("no response to " + request);
                });
    }

    private void fail(int at, Request request, KeeperException.Code code) {
        Client client = clients.get(at);
        if (request.kind == RequestKind.DELETE) {
            client.releasing.remove(request.path);
        }
        if (!request.hasResponse() || contenders.get(request.contender).incarnation != request.incarnation) {
            return;
        }
        Contender contender = contenders.get(request.contender);
        KeeperException failure = failure(code);
        if (request.paired && contender.dropsList) {
            contender.dropsList = false;
            return;
        }
        contender.dropsList |= request.kind == RequestKind.CREATE || request.kind == RequestKind.SYNC;
        feed(
                request.contender,
                switch (request.kind) {
                    case CREATE, CREATE_WITH_LOCK_NODE -> new ZooKeeperContenderEvent.CreateFailed(failure);
                    case SYNC, LIST -> new ZooKeeperContenderEvent.ListFailed(failure);
                    case READ -> new ZooKeeperContenderEvent.ReadFailed(failure);
                    case WATCH -> new ZooKeeperContenderEvent.WatchFailed(request.path, client.connection, failure);
                    default -> new ZooKeeperContenderEvent.RemovalFailed(failure);
                });
    }

    /** The leader may still execute what was sent; responses and events are lost. */
    private void cut(int at) {
        Client client = clients.get(at);
        disconnect(at);
        List<Request> lost = List.copyOf(client.open);
        client.open.clear();
        client.connected = false;
        lost.forEach(request -> fail(at, request, KeeperException.Code.CONNECTIONLOSS));
        client.connection++;
    }

    private void disconnect(int at) {
        Client client = clients.get(at);
        if (scope.possible.contains(Fault.LATE_EXECUTION) && openSessions.contains(client.session)) {
            client.sent.stream()
                    .filter(Request::isOrdered)
                    .filter(request -> request.kind != RequestKind.SYNC)
                    .forEach(request -> strays.add(new Stray(at, client.session, request)));
        }
        client.sent.clear();
        client.arriving.clear();
        servers.forEach(server -> server.model.disconnect(at));
    }

    private void reconnect(int at, int server, List<String> deleted) {
        Client client = clients.get(at);
        client.connected = true;
        client.server = server;
        client.connection++;
        ZooKeeperTree tree = servers.get(server).tree();
        deleted.forEach(path -> client.arriving.add(event(path, tree.zxid())));
        client.watches.forEach(path -> servers.get(server).model.watch(at, path));
        List.copyOf(client.registered)
                .forEach(i -> feed(i, new ZooKeeperContenderEvent.Reconnected(client.connection)));
    }

    private static Arrival event(String path, long zxid) {
        return new Arrival(null, KeeperException.Code.OK, path, 0, List.of(), zxid);
    }

    /** The client ends its session: leases are lost, then contenders are told, then the handle is closed. */
    private void endSession(int at) {
        Client client = clients.get(at);
        if (client.ended) {
            return;
        }
        client.ended = true;
        client.lockNodeUnused = false;
        for (int i = 0; i < contenders.size(); i++) {
            if (contenders.get(i).client == at && contenders.get(i).core == Core.HOLDING) {
                end(i);
            }
        }
        List.copyOf(client.registered).forEach(i -> feed(i, new ZooKeeperContenderEvent.SessionEnded(true)));
        disconnect(at);
        client.connected = false;
        client.open.clear();
        client.registered.clear();
        client.listeners.clear();
        client.releasing.clear();
        client.watches.clear();
    }

    private void openSession(int at) {
        Client before = clients.get(at);
        Client client = new Client(before.session + 1, scope.serverOfClient.get(at));
        clients.set(at, client);
        openSessions.add(client.session);
    }

    // ---- the servers

    /** Has a follower without clients apply what cannot matter any more, so that fewer worlds differ. */
    private void catchUp() {
        for (int i = 1; i < servers.size(); i++) {
            if (!hasClient(i)) {
                Server follower = servers.get(i);
                boolean needed = may(Fault.CUT) || clients.stream().anyMatch(each -> !each.connected && !each.ended);
                long seen =
                        clients.stream().mapToLong(each -> each.lastZxid).min().orElse(0);
                while (!follower.backlog.isEmpty()
                        && (!needed || follower.tree().zxid() < seen)) {
                    apply(i, follower.backlog.remove(0));
                }
            }
        }
    }

    private void execute(int at, Request request) {
        Client client = clients.get(at);
        Server server = servers.get(client.server);
        if (request.isOrdered()) {
            // What the client sent on an earlier connection is executed before, or not at all.
            strays.removeIf(stray -> stray.session == client.session);
            commit(
                    request.kind == RequestKind.SYNC ? null : write(request, client.session),
                    at,
                    client.session,
                    client.connection,
                    request);
            return;
        }
        if (request.kind == RequestKind.REMOVE_WATCH) {
            server.model.unwatch(at, request.path);
            return;
        }
        if (request.kind == RequestKind.LIST) {
            respond(
                    at,
                    request,
                    KeeperException.Code.OK,
                    "",
                    0,
                    server.tree().children(LOCK).orElse(List.of()),
                    server);
            return;
        }
        boolean isWatch = request.kind == RequestKind.WATCH;
        ZooKeeperTree.@Nullable Znode node = isWatch
                ? server.model.watch(at, request.path)
                : server.tree().nodes().get(request.path);
        if (node == null) {
            respond(at, request, KeeperException.Code.NONODE, "", 0, List.of(), server);
            return;
        }
        long number = isWatch ? node.owner() : node.czxid();
        respond(at, request, KeeperException.Code.OK, "", number, List.of(), server);
    }

    private static Write write(Request request, long session) {
        return switch (request.kind) {
            case CREATE -> new Create(request.path, session);
            case CREATE_WITH_LOCK_NODE ->
                new CreateInContainer(LOCK, request.path.substring(LOCK.length() + 1), session);
            default -> new Delete(request.path);
        };
    }

    /** The leader orders a transaction. The follower will apply it. */
    private void commit(@Nullable Write write, int at, long session, long connection, @Nullable Request request) {
        Commit commit = new Commit(write, at, session, connection, request);
        apply(0, commit);
        servers.stream().skip(1).forEach(follower -> follower.backlog.add(commit));
    }

    private void closeSession(long session, boolean reversed) {
        int at = (int) (session / 10);
        openSessions.remove(session);
        strays.removeIf(stray -> stray.session == session);
        if (clients.get(at).session == session && !clients.get(at).ended) {
            disconnect(at);
            clients.get(at).connected = false;
        }
        commit(new CloseSession(session, reversed), -1, session, -1, null);
    }

    private void apply(int number, Commit commit) {
        Server server = servers.get(number);
        Outcome outcome = commit.write == null
                ? new Outcome(server.tree(), ZooKeeperTree.Code.OK, "", List.of())
                : server.model.apply(
                        commit.write,
                        (at, path) -> clients.get(at)
                                .arriving
                                .add(event(path, server.tree().zxid())));
        Request request = commit.request;
        if (request == null || !request.hasResponse()) {
            return;
        }
        Client client = clients.get(commit.client);
        if (client.server != number || client.session != commit.session || client.connection != commit.connection) {
            return;
        }
        if (request.kind == RequestKind.DELETE) {
            boolean existed = outcome.code() == ZooKeeperTree.Code.OK;
            respond(commit.client, request, KeeperException.Code.OK, "", existed ? 1 : 0, List.of(), server);
            return;
        }
        respond(
                commit.client,
                request,
                KeeperException.Code.valueOf(outcome.code().name()),
                outcome.path(),
                outcome.next().zxid(),
                List.of(),
                server);
    }

    private void respond(
            int at,
            Request request,
            KeeperException.Code code,
            String path,
            long number,
            List<String> children,
            Server server) {
        if (clients.get(at).connected) {
            clients.get(at)
                    .arriving
                    .add(new Arrival(
                            request, code, path, number, children, server.tree().zxid()));
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
            if (believes(i)) {
                believers.add(i);
            }
        }
        if (believers.size() > 1) {
            return Optional.of("S01: contenders " + believers + " hold the lock");
        }
        if (believers.size() == 1 && !isHead(believers.get(0))) {
            return Optional.of("S01: contender " + believers.get(0) + " holds the lock, and the queue is " + queue());
        }
        for (Client client : clients) {
            for (Set<Integer> listening : client.listeners.values()) {
                if (listening.stream().anyMatch(i -> contenders.get(i).core == Core.DONE)) {
                    return Optional.of("S10: a contender has ended and still listens: " + client.listeners);
                }
            }
        }
        if (isFinal()) {
            if (!queue().isEmpty()) {
                return Optional.of("S08: all contenders have ended, and the queue has " + queue());
            }
            for (Client client : clients) {
                if (!client.listeners.isEmpty() || !client.releasing.isEmpty() || !client.registered.isEmpty()) {
                    return Optional.of("S10: all contenders have ended, and the registry has " + client.listeners
                            + client.releasing + client.registered);
                }
            }
            for (Server server : servers) {
                if (!server.model.watches().isEmpty()) {
                    return Optional.of(
                            "S10: all contenders have ended, and a server has the watches " + server.model.watches());
                }
            }
        }
        return Optional.empty();
    }

    private boolean isHead(int i) {
        List<String> queue = queue();
        return !queue.isEmpty()
                && queue.get(0).startsWith(ContenderNode.prefix(attemptId(i, contenders.get(i).incarnation)));
    }

    @Override
    public boolean isFinal() {
        return contenders.stream().allMatch(each -> each.core == Core.DONE && each.unsentList == null)
                && clients.stream()
                        .allMatch(client -> client.ended
                                || (client.connected
                                        && !client.deadlinePassed
                                        && !client.lockNodeUnused
                                        && client.sent.isEmpty()
                                        && client.open.isEmpty()
                                        && client.arriving.isEmpty()))
                && openSessions.stream()
                        .allMatch(session -> clients.get((int) (session / 10)).session == session
                                && !clients.get((int) (session / 10)).ended)
                && strays.isEmpty()
                && IntStream.range(0, servers.size())
                        .allMatch(i -> servers.get(i).backlog.isEmpty() || !hasClient(i));
    }

    @Override
    public List<String> situations() {
        TreeSet<String> present = new TreeSet<>();
        for (Contender contender : contenders) {
            present.add(contender.protocol.phase().getClass().getSimpleName());
            if (contender.core == Core.HOLDING) {
                present.add("held");
            }
            if (contender.gaveUp && contender.core == Core.DONE) {
                present.add("given up");
            }
            if (contender.incarnation > 0) {
                present.add("displaced");
            }
        }
        if (leaderTree().nodes().isEmpty() && leaderTree().zxid() > FIRST_ZXID + 1) {
            present.add("no lock node again");
        }
        return List.copyOf(present);
    }

    // ---- the key

    /** Contenders are written as # and a digit, which is then replaced by their place in an order of what they do. */
    @Override
    public String key() {
        List<String> views = contenders.stream().map(ZooKeeperWorld::view).toList();
        StringBuilder text = new StringBuilder(1_000);
        for (Server server : servers) {
            text.append(server.tree().zxid()).append('{');
            server.tree().nodes().forEach((path, node) -> {
                text.append(path).append(' ').append(node.czxid()).append(' ').append(node.owner());
                if (node.owner() == 0) {
                    text.append(" lock-").append(ZooKeeperTree.sequence(node.creates()));
                }
            });
            server.backlog.forEach(commit -> describe(commit, text));
            describe(server.model.watches(), ' ', text.append('w'));
        }
        clients.forEach(client -> describe(client, text));
        for (Stray stray : strays) {
            describe(stray.request, text.append('~').append(stray.session));
        }
        text.append(openSessions).append(faults).append(' ').append(highestToken);
        int[] labels = labels(views);
        Integer[] order = IntStream.range(0, labels.length).boxed().toArray(Integer[]::new);
        Arrays.sort(order, Comparator.comparing(i -> labels[i]));
        for (int i : order) {
            Contender contender = contenders.get(i);
            text.append(views.get(i)).append(contender.protocol.phase()).append(contender.token);
            contender.inbox.forEach(text::append);
        }
        relabel(text, labels);
        return Ranks.replaceTimes(withRankedSequences(text.toString()));
    }

    /** Returns what makes a contender differ from the others, without names and times. */
    private static String view(Contender contender) {
        StringBuilder text = new StringBuilder("|").append(contender.client).append(contender.incarnation);
        text.append(contender.protocol.phase().getClass().getSimpleName()).append(contender.core);
        append(text, contender.woken, contender.gaveUp, contender.timedOut, contender.revoked);
        append(text, contender.deferredWatch, contender.dropsList, contender.unsentList != null);
        return text.toString();
    }

    private static void append(StringBuilder text, boolean... flags) {
        for (boolean flag : flags) {
            text.append(flag ? '+' : '-');
        }
    }

    private static void describe(Client client, StringBuilder text) {
        text.append('|').append(client.session).append(':').append(client.server);
        text.append(':').append(client.connection).append(' ').append(client.lastZxid);
        append(text, client.connected, client.deadlinePassed, client.ended, client.lockNodeUnused);
        client.sent.forEach(request -> describe(request, text));
        text.append('o');
        client.open.forEach(request -> describe(request, text));
        text.append('a');
        for (Arrival arrival : client.arriving) {
            if (arrival.request != null) {
                describe(arrival.request, text);
            }
            text.append('<')
                    .append(arrival.code)
                    .append(arrival.path)
                    .append(' ')
                    .append(arrival.number);
            text.append(arrival.children).append(arrival.zxid);
        }
        describe(client.listeners, '#', text.append('l'));
        text.append(client.releasing).append(client.watches);
        client.registered.forEach(i -> text.append('#').append(i));
    }

    private static void describe(Map<String, ? extends Set<Integer>> byPath, char prefix, StringBuilder text) {
        byPath.forEach((path, values) ->
                values.forEach(each -> text.append(path).append(prefix).append(each)));
    }

    private static void describe(Request request, StringBuilder text) {
        text.append('>').append(request.kind).append(request.paired ? 'p' : ' ');
        text.append('#')
                .append(Math.max(0, request.contender))
                .append(request.incarnation)
                .append(request.path);
    }

    private static void describe(Commit commit, StringBuilder text) {
        text.append('!')
                .append(commit.client)
                .append(' ')
                .append(commit.session)
                .append(' ')
                .append(commit.connection);
        if (commit.request != null) {
            describe(commit.request, text);
        } else {
            text.append(commit.write);
        }
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

    private static void relabel(StringBuilder text, int[] labels) {
        for (int at = text.indexOf("#"); at >= 0; at = text.indexOf("#", at + 1)) {
            text.setCharAt(at + 1, (char) ('0' + labels[text.charAt(at + 1) - '0']));
        }
    }

    /** Replaces each sequence number by its rank: only the order of the numbers counts. */
    private static String withRankedSequences(String text) {
        TreeSet<String> numbers = new TreeSet<>();
        for (int at = sequence(text, 0); at >= 0; at = sequence(text, at)) {
            numbers.add(text.substring(at, at + SEQUENCE_DIGITS));
        }
        List<String> ranked = List.copyOf(numbers);
        StringBuilder replaced = new StringBuilder(text.length());
        int from = 0;
        for (int at = sequence(text, 0); at >= 0; at = sequence(text, at)) {
            replaced.append(text, from, at).append(ranked.indexOf(text.substring(at, at + SEQUENCE_DIGITS)));
            from = at + SEQUENCE_DIGITS;
        }
        return replaced.append(text, from, text.length()).toString();
    }

    /** Returns where the next sequence number begins; -1 if there is none. */
    private static int sequence(String text, int from) {
        for (int at = text.indexOf("lock-", from); at >= 0; at = text.indexOf("lock-", at + 1)) {
            int digits = at + "lock-".length();
            if (digits + SEQUENCE_DIGITS <= text.length() && Character.isDigit(text.charAt(digits))) {
                return digits;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        return key();
    }

    static Scope scope(
            String clientOfContender,
            String serverOfClient,
            int servers,
            int faults,
            Set<Fault> possible,
            boolean givingUp,
            Variant variant) {
        return new Scope(
                digits(clientOfContender), digits(serverOfClient), servers, faults, possible, givingUp, variant);
    }

    private static List<Integer> digits(String text) {
        return Arrays.stream(text.split("")).map(Integer::parseInt).toList();
    }
}
