// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redlock.NewMasters.Life;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Three new masters and two clients that open in tests, in every order of greetings, judgements and admissions that arrive, with one
 * loss of data once both are open. No time passes, so whoever waits waits for ever. All states are finite and all are visited. {@link
 * NewMasters} and {@link Admission} decide.
 */
record NewMastersModel(Rule rule) {
    enum Rule {
        /** As it is. */
        DECIDED_ONCE,
        /** What was seen of all of them is forgotten at once. */
        EACH_BY_THE_OTHERS,
        /** A loss in the same process makes no difference. */
        BY_PROCESS
    }

    private static final int MASTERS = 3;
    private static final int CLIENTS = 2;
    private static final Quorum QUORUM = new Quorum(MASTERS);
    private static final long LEASE = 1;

    /**
     * @param since as greet.lua notes it: 0 if it votes or nobody has seen that it does not
     * @param knowsMaxLease so it is not empty
     * @param forgot whether it has lost votes
     */
    private record Node(boolean votes, long since, boolean knowsMaxLease, boolean forgot) {}

    /** @param admitting the master's life for which an admission is on its way */
    private record View(@Nullable Node node, @Nullable Life admitting) {}

    private record Client(List<View> views, NewMasters newMasters, boolean hadQuorum) {}

    private record State(List<Node> nodes, List<Client> clients, boolean lost) {}

    private record Path(State state, String event, @Nullable Path before) {
        List<String> events(String last) {
            List<String> events = new ArrayList<>(List.of(last));
            for (Path path = this; path != null; path = path.before) {
                events.add(0, path.event);
            }
            return events;
        }
    }

    /** What led to a new master that does not vote, or to one that votes though it forgot; empty if nothing does. */
    Optional<List<String>> violation() {
        Client client = new Client(List.of(none(), none(), none()), NewMasters.NONE, false);
        Node node = new Node(false, 0, false, false);
        Path start = new Path(new State(List.of(node, node, node), List.of(client, client), false), "start", null);
        Set<State> known = new HashSet<>(Set.of(start.state));
        Deque<Path> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            Path path = open.remove();
            List<Path> next = next(path).stream()
                    .filter(one -> !one.state.equals(path.state))
                    .toList();
            if (path.state.nodes.stream().anyMatch(one -> one.votes && one.forgot)) {
                return Optional.of(path.events("votes again"));
            }
            if (next.isEmpty() && path.state.nodes.stream().anyMatch(one -> !one.votes && !one.forgot)) {
                return Optional.of(path.events("stands still"));
            }
            next.stream().filter(one -> known.add(one.state)).forEach(open::add);
        }
        return Optional.empty();
    }

    private static View none() {
        return new View(null, null);
    }

    private List<Path> next(Path path) {
        List<Path> next = new ArrayList<>();
        for (int m = 0; m < MASTERS; m++) {
            for (int c = 0; c < CLIENTS; c++) {
                String who = c + " at " + m;
                next.add(new Path(greet(path.state, c, m), "greeting by " + who, path));
                next.add(new Path(judge(path.state, c, m), "judgement by " + who, path));
                next.add(new Path(arrive(path.state, c, m), "admission by " + who, path));
            }
            next.add(new Path(lose(path.state, m), "loss at " + m, path));
        }
        return next;
    }

    private State greet(State state, int c, int m) {
        Client client = state.clients.get(c);
        Node node = state.nodes.get(m);
        long since = node.votes || node.since > 0 ? node.since : node.forgot ? 2 : 1;
        Node seen = new Node(node.votes, since, node.knowsMaxLease || client.hadQuorum, node.forgot);
        List<View> views = with(client.views, m, new View(seen, client.views.get(m).admitting));
        NewMasters newMasters = client.hadQuorum
                ? client.newMasters
                : client.newMasters.after(IntStream.range(0, MASTERS)
                        .mapToObj(i -> emptyLife(i, views.get(i)))
                        .toList());
        boolean hasQuorum = views.stream().filter(NewMastersModel::votes).count() >= QUORUM.majority();
        return new State(
                with(state.nodes, m, seen),
                with(state.clients, c, new Client(views, newMasters, client.hadQuorum || hasQuorum)),
                state.lost);
    }

    private State judge(State state, int c, int m) {
        Client client = state.clients.get(c);
        Node seen = client.views.get(m).node;
        if (seen == null || seen.votes || client.views.get(m).admitting != null) {
            return state;
        }
        List<Admission.Other> others = IntStream.range(0, MASTERS)
                .filter(i -> i != m)
                .mapToObj(i -> asOther(client.views.get(i)))
                .toList();
        boolean isNew = rule == Rule.EACH_BY_THE_OTHERS
                ? !client.hadQuorum
                        && Stream.concat(others.stream(), Stream.of(asOther(client.views.get(m))))
                                .allMatch(Admission.Other.EMPTY::equals)
                : client.newMasters.contain(life(m, seen));
        Admission.Standing standing =
                new Admission.Standing(false, false, OptionalLong.empty(), OptionalLong.of(seen.since), seen.since);
        return new Admission(QUORUM, LEASE, isNew).of(standing, others) instanceof Admission.Verdict.Admit
                ? admitting(state, c, m, new Life("", seen.since))
                : state;
    }

    /** As admit.lua does it. */
    private static State arrive(State state, int c, int m) {
        Life admitting = state.clients.get(c).views.get(m).admitting;
        Node node = state.nodes.get(m);
        if (admitting == null) {
            return state;
        }
        State arrived = admitting(state, c, m, null);
        return node.since == admitting.sinceMicros()
                ? new State(with(state.nodes, m, new Node(true, 0, true, node.forgot)), arrived.clients, state.lost)
                : arrived;
    }

    private static State admitting(State state, int c, int m, @Nullable Life life) {
        Client client = state.clients.get(c);
        List<View> views = with(client.views, m, new View(client.views.get(m).node, life));
        return new State(
                state.nodes,
                with(state.clients, c, new Client(views, client.newMasters, client.hadQuorum)),
                state.lost);
    }

    /** One loss is enough: it is all the same to the others. */
    private static State lose(State state, int m) {
        boolean counts = !state.lost
                && state.nodes.get(m).votes
                && state.clients.stream().allMatch(Client::hadQuorum);
        return counts ? new State(with(state.nodes, m, new Node(false, 0, false, true)), state.clients, true) : state;
    }

    private Optional<Life> emptyLife(int m, View view) {
        return asOther(view) == Admission.Other.EMPTY
                ? Optional.ofNullable(view.node).map(node -> life(m, node))
                : Optional.empty();
    }

    private Life life(int m, Node seen) {
        return new Life("run of " + m, rule == Rule.BY_PROCESS ? 0 : seen.since);
    }

    private static boolean votes(View view) {
        return view.node != null && view.node.votes;
    }

    private static Admission.Other asOther(View view) {
        return view.node == null
                ? Admission.Other.SILENT
                : view.node.votes
                        ? Admission.Other.ADMITTED
                        : view.node.knowsMaxLease ? Admission.Other.FORGETFUL : Admission.Other.EMPTY;
    }

    private static <T> List<T> with(List<T> list, int index, T value) {
        List<T> changed = new ArrayList<>(list);
        changed.set(index, value);
        return List.copyOf(changed);
    }
}
