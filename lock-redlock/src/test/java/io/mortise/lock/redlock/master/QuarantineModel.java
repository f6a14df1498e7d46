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
 * Three masters, two clients with different leases and one lock, in every order of what may happen: grants, renewals, recovered votes, deletion of
 * data, restarts with and without data, masters out of sight, and time. All states are visited. {@link
 * QuarantinePolicy} decides who votes.
 *
 * @param maxLease length of the quarantine
 * @param fromLoss whether they count from when the loss was seen, as they must; else from the start of the process, long ago
 */
record QuarantineModel(long maxLease, boolean fromLoss) {
    /** In ticks, of the two clients. */
    static final List<Integer> LEASES = List.of(1, 2);

    private static final int MASTERS = 3;
    private static final int UNSEEN = -1;
    private static final Quorum QUORUM = new Quorum(MASTERS);

    /**
     * @param votes whether it has left quarantine and knows that
     * @param everVoted whether it was, in an earlier life, and knows that
     * @param age so long it is known that it does not vote
     * @param owner holder of the key, for {@code left} more ticks
     */
    private record Node(boolean votes, boolean everVoted, int age, int owner, int left) {
        static final Node FRESH = new Node(true, true, UNSEEN, 0, 0);
        static final Node BLANK = new Node(false, false, UNSEEN, 0, 0);

        Node granted(int newOwner, int lease) {
            return new Node(votes, everVoted, age, newOwner, lease);
        }

        Node restarted() {
            return new Node(false, votes || everVoted, UNSEEN, 0, 0);
        }
    }

    /** @param beliefs for so many ticks more each client believes that it holds the lock */
    private record State(List<Node> nodes, List<Integer> beliefs) {
        boolean hasTwoHolders() {
            return beliefs.stream().allMatch(left -> left > 0);
        }
    }

    /** What led to two holders; empty if nothing does. */
    Optional<List<String>> violation() {
        State start = new State(List.of(Node.FRESH, Node.FRESH, Node.FRESH), List.of(0, 0));
        Set<State> known = new HashSet<>(Set.of(start));
        Deque<Path> open = new ArrayDeque<>(List.of(new Path(start, "start", null)));
        while (!open.isEmpty()) {
            Path path = open.remove();
            for (Path next : next(path)) {
                if (next.state.hasTwoHolders()) {
                    return Optional.of(next.events());
                }
                if (known.add(next.state)) {
                    open.add(next);
                }
            }
        }
        return Optional.empty();
    }

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
                int who = client;
                step(next, path, "client " + who + " without " + without, state -> ask(state, who, without));
                if (without != -1) {
                    step(
                            next,
                            path,
                            "client " + who + " recovers vote of " + without,
                            state -> recoverVote(state, who, without));
                }
            }
        }
        for (int client = 0; client < LEASES.size(); client++) {
            int who = client;
            step(next, path, "release by " + who, state -> release(state, who));
        }
        for (int node = 0; node < MASTERS; node++) {
            int which = node;
            step(next, path, "delete " + which, state -> state.nodes[which] = Node.BLANK);
            step(next, path, "restart " + which, state -> state.nodes[which] = state.nodes[which].restarted());
        }
        step(next, path, "delete all", state -> Arrays.fill(state.nodes, Node.BLANK));
        return next;
    }

    private static void step(List<Path> next, Path from, String event, Consumer<Draft> change) {
        Draft draft = new Draft(from.state);
        change.accept(draft);
        next.add(new Path(draft.state(), event, from));
    }

    private static final class Draft {
        private final Node[] nodes;
        private final Integer[] beliefs;

        Draft(State state) {
            nodes = state.nodes.toArray(Node[]::new);
            beliefs = state.beliefs.toArray(Integer[]::new);
        }

        State state() {
            return new State(List.of(nodes), List.of(beliefs));
        }
    }

    private void tick(Draft state) {
        long forgotten = 2 * maxLease; // then it makes no difference any more
        for (int i = 0; i < MASTERS; i++) {
            Node node = state.nodes[i];
            int age = node.age == UNSEEN ? UNSEEN : (int) Math.min(node.age + 1, forgotten);
            int left = Math.max(node.left - 1, 0);
            state.nodes[i] = new Node(node.votes, node.everVoted, age, left == 0 ? 0 : node.owner, left);
        }
        Arrays.setAll(state.beliefs, i -> Math.max(state.beliefs[i] - 1, 0));
    }

    /** Whoever has a majority believes in it from now on; else what it has got is given back. */
    private static void ask(Draft state, int client, int without) {
        int owner = client + 1;
        int lease = LEASES.get(client);
        boolean renews = state.beliefs[client] > 0;
        Node[] before = state.nodes.clone();
        int votes = 0;
        for (int i = 0; i < MASTERS; i++) {
            Node node = state.nodes[i];
            boolean free = node.left == 0 && !renews;
            if (i != without && node.votes && (free || (node.left > 0 && node.owner == owner))) {
                state.nodes[i] = node.granted(owner, lease);
                votes++;
            }
        }
        if (votes >= QUORUM.majority()) {
            state.beliefs[client] = lease;
        } else if (!renews) {
            System.arraycopy(before, 0, state.nodes, 0, MASTERS);
        }
    }

    /** Where the key is free; at any time, for it may be executed long after it was sent. */
    private static void recoverVote(Draft state, int client, int which) {
        Node node = state.nodes[which];
        if (node.votes && node.left == 0) {
            state.nodes[which] = node.granted(client + 1, LEASES.get(client));
        }
    }

    private static void release(Draft state, int client) {
        state.beliefs[client] = 0;
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
            long seen = fromLoss ? -age : -2 * maxLease;
            QuarantinePolicy.MasterState masterState = new QuarantinePolicy.MasterState(
                    false, node.everVoted, Optional.empty(), Optional.of(new ServerTime(seen)), new ServerTime(0));
            boolean leaves =
                    new QuarantinePolicy(QUORUM, SimulatedMaster.steps(maxLease), false).decide(masterState, others)
                            instanceof QuarantinePolicy.Decision.Leave;
            state.nodes[i] = leaves
                    ? new Node(true, true, UNSEEN, node.owner, node.left)
                    : new Node(false, node.everVoted, age, node.owner, node.left);
        }
    }

    private static QuarantinePolicy.PeerState peerState(Node node) {
        return node.votes
                ? QuarantinePolicy.PeerState.VOTING
                : node.everVoted ? QuarantinePolicy.PeerState.QUARANTINED : QuarantinePolicy.PeerState.EMPTY;
    }
}
