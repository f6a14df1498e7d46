// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.TestOnlyQuarantineExemptions.Incarnation;
import io.mortise.lock.redlock.vote.Quorum;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Explores all states of three new masters and two test clients, to find a wrong exemption from quarantine.
 *
 * <p>Handshakes, decisions and ends of quarantine occur in every order, with one loss of data after both clients have
 * connected. No time passes, so no quarantine ends by itself. {@link TestOnlyQuarantineExemptions} and {@link QuarantinePolicy}
 * decide.
 */
record TestOnlyQuarantineExemptionsModel(Rule rule) {
    /** The rule by which the model decides which masters are new. */
    enum Rule {
        /** The rule of the library: decided once, for all masters together. */
        DECIDED_ONCE,
        /** Decided for each master from the current state of the others. */
        EACH_BY_THE_OTHERS,
        /** Masters are identified only by their process, so a loss of data in the same process goes unnoticed. */
        BY_PROCESS
    }

    private static final int MASTERS = 3;
    private static final int CLIENTS = 2;
    private static final Quorum QUORUM = new Quorum(MASTERS);
    private static final Duration LEASE = SimulatedMaster.steps(1);

    /**
     * State of one master.
     *
     * @param since start of the quarantine as handshake.lua stores it: 0 if the master votes or no client has seen it in
     *     quarantine
     * @param knowsMaxLease whether the master stores a longest lease, and so is not empty
     * @param forgot whether the master has lost votes
     */
    private record Node(boolean votes, long since, boolean knowsMaxLease, boolean forgot) {}

    /**
     * State of one master as one client sees it.
     *
     * @param leaving incarnation for which a request to leave quarantine is pending
     */
    private record View(@Nullable Node node, @Nullable Incarnation leaving) {}

    /** State of one client, with its view of each master. */
    private record Client(List<View> views, TestOnlyQuarantineExemptions newMasters, boolean hadMajority) {}

    /** State of the whole system. */
    private record State(List<Node> nodes, List<Client> clients, boolean lost) {}

    /** A state, and the events that led to it. */
    private record Path(State state, String event, @Nullable Path before) {
        List<String> events(String last) {
            List<String> events = new ArrayList<>(List.of(last));
            for (Path path = this; path != null; path = path.before) {
                events.add(0, path.event);
            }
            return events;
        }
    }

    /** Returns the events that lead to a new master without a vote, or to a forgetful one with a vote; empty if none do. */
    Optional<List<String>> violation() {
        Client client = new Client(List.of(unknown(), unknown(), unknown()), TestOnlyQuarantineExemptions.NONE, false);
        Node node = new Node(false, 0, false, false);
        Path start = new Path(new State(List.of(node, node, node), List.of(client, client), false), "start", null);
        Set<State> visited = new HashSet<>(Set.of(start.state));
        Deque<Path> pending = new ArrayDeque<>(List.of(start));
        while (!pending.isEmpty()) {
            Path path = pending.remove();
            List<Path> next = next(path).stream()
                    .filter(one -> !one.state.equals(path.state))
                    .toList();
            if (path.state.nodes.stream().anyMatch(one -> one.votes && one.forgot)) {
                return Optional.of(path.events("votes again"));
            }
            if (next.isEmpty() && path.state.nodes.stream().anyMatch(one -> !one.votes && !one.forgot)) {
                return Optional.of(path.events("stalls"));
            }
            next.stream().filter(one -> visited.add(one.state)).forEach(pending::add);
        }
        return Optional.empty();
    }

    private static View unknown() {
        return new View(null, null);
    }

    private List<Path> next(Path path) {
        List<Path> next = new ArrayList<>();
        for (int m = 0; m < MASTERS; m++) {
            for (int c = 0; c < CLIENTS; c++) {
                String who = c + " at " + m;
                next.add(new Path(handshake(path.state, c, m), "handshake by " + who, path));
                next.add(new Path(decide(path.state, c, m), "decision by " + who, path));
                next.add(new Path(leave(path.state, c, m), "leaving by " + who, path));
            }
            next.add(new Path(lose(path.state, m), "loss at " + m, path));
        }
        return next;
    }

    private State handshake(State state, int c, int m) {
        Client client = state.clients.get(c);
        Node node = state.nodes.get(m);
        long since = node.votes || node.since > 0 ? node.since : node.forgot ? 2 : 1;
        Node seen = new Node(node.votes, since, node.knowsMaxLease || client.hadMajority, node.forgot);
        List<View> views = with(client.views, m, new View(seen, client.views.get(m).leaving));
        TestOnlyQuarantineExemptions newMasters = client.hadMajority
                ? client.newMasters
                : client.newMasters.update(IntStream.range(0, MASTERS)
                        .mapToObj(i -> emptyIncarnation(i, views.get(i)))
                        .toList());
        boolean hasMajority =
                views.stream().filter(TestOnlyQuarantineExemptionsModel::votes).count() >= QUORUM.majority();
        return new State(
                with(state.nodes, m, seen),
                with(state.clients, c, new Client(views, newMasters, client.hadMajority || hasMajority)),
                state.lost);
    }

    private State decide(State state, int c, int m) {
        Client client = state.clients.get(c);
        Node seen = client.views.get(m).node;
        if (seen == null || seen.votes || client.views.get(m).leaving != null) {
            return state;
        }
        List<QuarantinePolicy.PeerState> others = IntStream.range(0, MASTERS)
                .filter(i -> i != m)
                .mapToObj(i -> peerState(client.views.get(i)))
                .toList();
        boolean isNew = rule == Rule.EACH_BY_THE_OTHERS
                ? !client.hadMajority
                        && Stream.concat(others.stream(), Stream.of(peerState(client.views.get(m))))
                                .allMatch(QuarantinePolicy.PeerState.EMPTY::equals)
                : client.newMasters.contains(incarnation(m, seen));
        QuarantinePolicy.MasterState masterState = new QuarantinePolicy.MasterState(
                false, false, Optional.empty(), Optional.of(new ServerTime(seen.since)), new ServerTime(seen.since));
        return new QuarantinePolicy(QUORUM, LEASE, isNew).decide(masterState, others)
                        instanceof QuarantinePolicy.Decision.Leave
                ? leaving(state, c, m, new Incarnation("", Optional.of(new ServerTime(seen.since))))
                : state;
    }

    /** Simulates leave_quarantine.lua. */
    private static State leave(State state, int c, int m) {
        Incarnation leaving = state.clients.get(c).views.get(m).leaving;
        Node node = state.nodes.get(m);
        if (leaving == null) {
            return state;
        }
        State arrived = leaving(state, c, m, null);
        return leaving.quarantinedSince().equals(Optional.of(new ServerTime(node.since)))
                ? new State(with(state.nodes, m, new Node(true, 0, true, node.forgot)), arrived.clients, state.lost)
                : arrived;
    }

    private static State leaving(State state, int c, int m, @Nullable Incarnation incarnation) {
        Client client = state.clients.get(c);
        List<View> views = with(client.views, m, new View(client.views.get(m).node, incarnation));
        return new State(
                state.nodes,
                with(state.clients, c, new Client(views, client.newMasters, client.hadMajority)),
                state.lost);
    }

    /** Simulates one loss of data; all masters are equivalent, so one loss is enough. */
    private static State lose(State state, int m) {
        boolean counts = !state.lost
                && state.nodes.get(m).votes
                && state.clients.stream().allMatch(Client::hadMajority);
        return counts ? new State(with(state.nodes, m, new Node(false, 0, false, true)), state.clients, true) : state;
    }

    private Optional<Incarnation> emptyIncarnation(int m, View view) {
        return peerState(view) == QuarantinePolicy.PeerState.EMPTY
                ? Optional.ofNullable(view.node).map(node -> incarnation(m, node))
                : Optional.empty();
    }

    private Incarnation incarnation(int m, Node seen) {
        return new Incarnation(
                "run of " + m, rule == Rule.BY_PROCESS ? Optional.empty() : Optional.of(new ServerTime(seen.since)));
    }

    private static boolean votes(View view) {
        return view.node != null && view.node.votes;
    }

    private static QuarantinePolicy.PeerState peerState(View view) {
        return view.node == null
                ? QuarantinePolicy.PeerState.UNREACHABLE
                : view.node.votes
                        ? QuarantinePolicy.PeerState.VOTING
                        : view.node.knowsMaxLease
                                ? QuarantinePolicy.PeerState.QUARANTINED
                                : QuarantinePolicy.PeerState.EMPTY;
    }

    private static <T> List<T> with(List<T> list, int index, T value) {
        List<T> changed = new ArrayList<>(list);
        changed.set(index, value);
        return List.copyOf(changed);
    }
}
