// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.vote.Quorum;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Explores all states of three masters, two clients and one lock, to find a state with two holders.
 *
 * <p>The clients have different leases. Events occur in every order: grants, renewals, recovered votes, releases, deletion of
 * data, restarts with and without data, unreachable masters, clocks that are set back, and the passing of time. {@link QuarantinePolicy} decides which
 * masters vote.
 *
 * @param maxLease length of the quarantine, in ticks
 * @param countsFromLoss whether the quarantine counts from when the loss was first seen, as it must; else from the start of the
 *     process, long ago
 */
record QuarantineModel(long maxLease, boolean countsFromLoss) {
    /** Lease durations of the two clients, in ticks. */
    static final List<Integer> LEASES = List.of(1, 2);

    private static final int MASTERS = 3;
    private static final int UNSEEN = -1;
    private static final Quorum QUORUM = new Quorum(MASTERS);

    /**
     * State of one master.
     *
     * @param votes whether the master stores that it has left quarantine in this run
     * @param everVoted whether the master stores that it has ever left quarantine
     * @param age ticks since a client first saw that the master does not vote
     * @param owner holder of the key
     * @param remaining ticks until the key expires
     */
    private record Node(boolean votes, boolean everVoted, int age, int owner, int remaining) {
        static final Node VOTING = new Node(true, true, UNSEEN, 0, 0);
        static final Node EMPTY = new Node(false, false, UNSEEN, 0, 0);

        Node granted(int newOwner, int lease) {
            return new Node(votes, everVoted, age, newOwner, lease);
        }

        Node restarted() {
            return new Node(false, votes || everVoted, UNSEEN, 0, 0);
        }

        /** Sets the clock back by a tick; to before the quarantine is as if nobody had seen the loss (handshake.lua). */
        Node setBack() {
            return new Node(votes, everVoted, Math.max(age - 1, UNSEEN), owner, remaining);
        }
    }

    /**
     * State of the whole system.
     *
     * @param leaseTicks ticks for which each client still considers its lease valid
     */
    private record State(List<Node> nodes, List<Integer> leaseTicks) {
        boolean hasTwoHolders() {
            return leaseTicks.stream().allMatch(remaining -> remaining > 0);
        }
    }

    /** Returns the events that lead to two holders; empty if no sequence does. */
    Optional<List<String>> violation() {
        State start = new State(List.of(Node.VOTING, Node.VOTING, Node.VOTING), List.of(0, 0));
        Set<State> visited = new HashSet<>(Set.of(start));
        Deque<Path> pending = new ArrayDeque<>(List.of(new Path(start, "start", null)));
        while (!pending.isEmpty()) {
            Path path = pending.remove();
            for (Path next : next(path)) {
                if (next.state.hasTwoHolders()) {
                    return Optional.of(next.events());
                }
                if (visited.add(next.state)) {
                    pending.add(next);
                }
            }
        }
        return Optional.empty();
    }

    /** A state, and the events that led to it. */
    private record Path(State state, String event, @Nullable Path before) {
        List<String> events() {
            List<String> events = before == null ? new ArrayList<>() : before.events();
            events.add(event);
            return events;
        }
    }

    private List<Path> next(Path path) {
        List<Path> next = new ArrayList<>();
        step(next, path, "tick", this::tick);
        for (int unreachable = -1; unreachable < MASTERS; unreachable++) {
            int without = unreachable;
            step(next, path, "leave quarantine without " + without, state -> leaveQuarantine(state, without));
            for (int client = 0; client < LEASES.size(); client++) {
                int id = client;
                step(next, path, "client " + id + " without " + without, state -> acquireOrRenew(state, id, without));
                if (without != -1) {
                    step(
                            next,
                            path,
                            "client " + id + " recovers vote of " + without,
                            state -> recoverVote(state, id, without));
                }
            }
        }
        for (int client = 0; client < LEASES.size(); client++) {
            int id = client;
            step(next, path, "release by " + id, state -> release(state, id));
        }
        for (int node = 0; node < MASTERS; node++) {
            int which = node;
            step(next, path, "delete " + which, state -> state.nodes[which] = Node.EMPTY);
            step(next, path, "restart " + which, state -> state.nodes[which] = state.nodes[which].restarted());
            step(
                    next,
                    path,
                    "set back the clock of " + which,
                    state -> state.nodes[which] = state.nodes[which].setBack());
        }
        step(next, path, "delete all", state -> Arrays.fill(state.nodes, Node.EMPTY));
        return next;
    }

    private static void step(List<Path> next, Path from, String event, Consumer<Draft> change) {
        Draft draft = new Draft(from.state);
        change.accept(draft);
        next.add(new Path(draft.state(), event, from));
    }

    /** A mutable copy of a state. */
    private static final class Draft {
        private final Node[] nodes;
        private final Integer[] leaseTicks;

        Draft(State state) {
            nodes = state.nodes.toArray(Node[]::new);
            leaseTicks = state.leaseTicks.toArray(Integer[]::new);
        }

        State state() {
            return new State(List.of(nodes), List.of(leaseTicks));
        }
    }

    private void tick(Draft state) {
        long maxAge = 2 * maxLease; // a greater age makes no difference
        for (int i = 0; i < MASTERS; i++) {
            Node node = state.nodes[i];
            int age = node.age == UNSEEN ? UNSEEN : (int) Math.min(node.age + 1, maxAge);
            int remaining = Math.max(node.remaining - 1, 0);
            state.nodes[i] = new Node(node.votes, node.everVoted, age, remaining == 0 ? 0 : node.owner, remaining);
        }
        Arrays.setAll(state.leaseTicks, i -> Math.max(state.leaseTicks[i] - 1, 0));
    }

    /**
     * Acquires or renews: a client with a majority considers its lease valid from now on; otherwise a new attempt yields its
     * votes.
     */
    private static void acquireOrRenew(Draft state, int client, int without) {
        int owner = client + 1;
        int lease = LEASES.get(client);
        boolean renews = state.leaseTicks[client] > 0;
        Node[] before = state.nodes.clone();
        int votes = 0;
        for (int i = 0; i < MASTERS; i++) {
            Node node = state.nodes[i];
            boolean free = node.remaining == 0 && !renews;
            if (i != without && node.votes && (free || (node.remaining > 0 && node.owner == owner))) {
                state.nodes[i] = node.granted(owner, lease);
                votes++;
            }
        }
        if (votes >= QUORUM.majority()) {
            state.leaseTicks[client] = lease;
        } else if (!renews) {
            System.arraycopy(before, 0, state.nodes, 0, MASTERS);
        }
    }

    /** Recovers a vote if the key is free. Possible at any time, since the request may be executed long after it was sent. */
    private static void recoverVote(Draft state, int client, int which) {
        Node node = state.nodes[which];
        if (node.votes && node.remaining == 0) {
            state.nodes[which] = node.granted(client + 1, LEASES.get(client));
        }
    }

    private static void release(Draft state, int client) {
        state.leaseTicks[client] = 0;
        for (int i = 0; i < MASTERS; i++) {
            if (state.nodes[i].owner == client + 1) {
                state.nodes[i] = state.nodes[i].granted(0, 0);
            }
        }
    }

    private void leaveQuarantine(Draft state, int without) {
        for (int i = 0; i < MASTERS; i++) {
            if (i == without || state.nodes[i].votes) {
                continue;
            }
            Node node = state.nodes[i];
            int age = Math.max(node.age, 0);
            List<QuarantinePolicy.PeerState> others = new ArrayList<>();
            for (int other = 0; other < MASTERS; other++) {
                if (other != i) {
                    others.add(
                            other == without ? QuarantinePolicy.PeerState.UNREACHABLE : peerState(state.nodes[other]));
                }
            }
            long quarantinedSince = countsFromLoss ? -age : -2 * maxLease;
            QuarantinePolicy.MasterState masterState = new QuarantinePolicy.MasterState(
                    false,
                    node.everVoted,
                    Optional.empty(),
                    Optional.of(new ServerTime(quarantinedSince)),
                    new ServerTime(0));
            boolean votes =
                    new QuarantinePolicy(QUORUM, SimulatedMaster.steps(maxLease), false).decide(masterState, others)
                            instanceof QuarantinePolicy.Decision.Leave;
            state.nodes[i] = votes
                    ? new Node(true, true, UNSEEN, node.owner, node.remaining)
                    : new Node(false, node.everVoted, age, node.owner, node.remaining);
        }
    }

    private static QuarantinePolicy.PeerState peerState(Node node) {
        return node.votes
                ? QuarantinePolicy.PeerState.VOTING
                : node.everVoted ? QuarantinePolicy.PeerState.QUARANTINED : QuarantinePolicy.PeerState.EMPTY;
    }
}
