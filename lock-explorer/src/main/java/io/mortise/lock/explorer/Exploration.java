// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The states of a world that can be reached, found breadth first, so that the way to each is the shortest. States are
 * recognized by the hashes of their keys. Stops at the first violation. Not thread-safe.
 */
public final class Exploration<W extends World<W>> {
    private static final List<Kind> KINDS = List.of(Kind.values());
    private static final Pattern NUMBERED = Pattern.compile("\\s*\\d+\\. (.*)");

    private final W initial;
    private final long mostStates;
    private final IntList parents = new IntList(); // of each state: the state that it was first reached from
    private final IntList ordinals = new IntList(); // of each state: which of the parent's steps led to it
    private final IntList edges = new IntList(); // from, to and kind of each transition
    private final BitSet finals = new BitSet();
    private final Map<String, Long> situations = new HashMap<>();
    private Optional<String> violation = Optional.empty();
    private boolean complete = true;
    private int violating;

    private Exploration(W initial, long mostStates) {
        this.initial = initial;
        this.mostStates = mostStates;
    }

    /**
     * Explores all states that can be reached.
     *
     * @param mostStates the number of states after which the exploration stops incomplete
     */
    public static <W extends World<W>> Exploration<W> of(W initial, long mostStates) {
        Exploration<W> exploration = new Exploration<>(initial, mostStates);
        exploration.run();
        return exploration;
    }

    private void run() {
        Queue<W> frontier = new ArrayDeque<>();
        Fingerprints seen = new Fingerprints();
        StateKey key = new StateKey();
        reach(initial, -1, 0, frontier, seen, key);
        int from = 0;
        while (!frontier.isEmpty() && violation.isEmpty()) {
            W world = frontier.remove();
            List<Step<W>> steps = steps(world, from);
            for (int i = 0; i < steps.size() && violation.isEmpty(); i++) {
                int to = reach(steps.get(i).next(), from, i, frontier, seen, key);
                edges.add(from);
                edges.add(to);
                edges.add(KINDS.indexOf(steps.get(i).kind()));
            }
            from++;
            if (parents.size() > mostStates) {
                complete = false;
                return;
            }
        }
    }

    private List<Step<W>> steps(W world, int id) {
        try {
            return world.steps();
        } catch (IllegalStateException e) { // the protocol says that this cannot happen
            violation = Optional.of(String.valueOf(e.getMessage()));
            violating = id;
            return List.of();
        }
    }

    /** Returns the number of the state. A violation may concern the step to it, so it is looked for in known states too. */
    private int reach(W world, int parent, int ordinal, Queue<W> frontier, Fingerprints seen, StateKey key) {
        violation = world.violation();
        int known = violation.isPresent() ? -1 : seen.add(hash(world, key), parents.size());
        if (known >= 0) {
            return known;
        }
        int id = parents.size();
        parents.add(parent);
        ordinals.add(ordinal);
        frontier.add(world);
        world.situations().forEach(name -> situations.merge(name, 1L, Long::sum));
        finals.set(id, world.isFinal());
        violating = id;
        return id;
    }

    private static long hash(World<?> world, StateKey key) {
        key.clear();
        world.describe(key);
        long hash = key.hash();
        return hash == 0 ? 1 : hash;
    }

    /** Returns the number of states. */
    public int states() {
        return parents.size();
    }

    /** Returns the number of transitions. */
    public int transitions() {
        return edges.size() / 3;
    }

    /** Returns whether all states were explored. */
    public boolean isComplete() {
        return complete && violation.isEmpty();
    }

    /** Returns how many states show each situation. */
    public Map<String, Long> situations() {
        return Map.copyOf(situations);
    }

    /** Asserts that a state shows the situation, or that none does. */
    public void assertReaches(String situation, boolean expected) {
        assertThat(situations.containsKey(situation))
                .as("%s of %s", situation, situations)
                .isEqualTo(expected);
    }

    /** Returns the violation that was found, with the shortest way to it; empty if there is none. */
    public Optional<String> counterexample() {
        return violation.map(what -> what + System.lineSeparator() + wayTo(violating));
    }

    /**
     * Returns the world at the end of a way that {@link #counterexample} or {@link #stuck} has printed. The way ends early at a violation,
     * and before a step that is impossible: a mended protocol no longer goes there.
     *
     * @param way the printed lines; those without a number are ignored
     */
    public static <W extends World<W>> W follow(W initial, String way) {
        W world = initial;
        for (String label : labelsOf(way)) {
            if (world.violation().isPresent()) {
                return world;
            }
            List<Step<W>> steps = world.steps();
            int taken = labels(steps).indexOf(label);
            if (taken < 0) {
                return world;
            }
            world = steps.get(taken).next();
        }
        return world;
    }

    private static List<String> labelsOf(String way) {
        return way.lines()
                .map(NUMBERED::matcher)
                .filter(Matcher::matches)
                .map(line -> line.group(1))
                .toList();
    }

    /** Returns the labels of all steps. Equal ones are counted, so that {@link #follow} can tell them apart. */
    private static <W> List<String> labels(List<Step<W>> steps) {
        Map<String, Integer> counts = new HashMap<>();
        return steps.stream()
                .map(step -> step.label().get())
                .map(label -> label + (counts.merge(label, 1, Integer::sum) > 1 ? " #" + counts.get(label) : ""))
                .toList();
    }

    /**
     * Returns the shortest way to a state from which no final state can be reached by the given kinds of steps; empty if there
     * is no such state. Without {@link Kind#OPTIONAL}, whose steps need not happen, such a state is a deadlock; without
     * {@link Kind#FALLBACK} too, it is a lost message.
     *
     * @throws IllegalStateException if not all states were explored: then the last ones seem to be stuck
     */
    public Optional<String> stuck(Kind... kinds) {
        if (!isComplete()) {
            throw new IllegalStateException("too few states to tell whether one is stuck: " + this);
        }
        BitSet live = new BitSet();
        live.or(finals);
        List<Integer> allowed = Arrays.stream(kinds).map(KINDS::indexOf).toList();
        boolean grown = true;
        while (grown) {
            grown = false;
            for (int i = edges.size() - 3; i >= 0; i -= 3) { // mostly from the end of a way to its start
                if (live.get(edges.get(i + 1)) && !live.get(edges.get(i)) && allowed.contains(edges.get(i + 2))) {
                    live.set(edges.get(i));
                    grown = true;
                }
            }
        }
        int stuck = live.nextClearBit(0);
        return stuck < parents.size()
                ? Optional.of("no way on but by " + others(allowed) + System.lineSeparator() + wayTo(stuck))
                : Optional.empty();
    }

    private static String others(List<Integer> allowed) {
        return KINDS.stream()
                .filter(kind -> !allowed.contains(KINDS.indexOf(kind)))
                .map(Kind::name)
                .collect(Collectors.joining(" or "));
    }

    /** Returns the labels of the steps, one a line, and the state at their end. */
    private String wayTo(int state) {
        List<Integer> way = new ArrayList<>();
        for (int at = state; parents.get(at) >= 0; at = parents.get(at)) {
            way.add(ordinals.get(at));
        }
        Collections.reverse(way);
        W world = initial;
        List<String> lines = new ArrayList<>();
        for (int ordinal : way) {
            List<Step<W>> steps = world.steps();
            lines.add(lines.size() + 1 + ". " + labels(steps).get(ordinal));
            world = steps.get(ordinal).next();
        }
        StateKey key = new StateKey();
        world.describe(key);
        lines.add("then: " + key);
        return String.join(System.lineSeparator(), lines);
    }

    @Override
    public String toString() {
        return states() + " states, " + transitions() + " transitions" + (complete ? "" : ", not all explored");
    }

    /** A growing list of ints. */
    private static final class IntList {
        private int[] values = new int[1024];
        private int size;

        void add(int value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, size * 2);
            }
            values[size++] = value;
        }

        int get(int index) {
            return values[index];
        }

        int size() {
            return size;
        }
    }

    /** The numbers of states by the hashes of their keys, which are not 0: a hash table with open addressing. */
    private static final class Fingerprints {
        private long[] hashes = new long[1 << 16]; // 0: free
        private int[] ids = new int[1 << 16];
        private int size;

        /** Returns the id that the hash has; adds it with this id and returns -1 if it has none. */
        int add(long hash, int id) {
            if (size * 2 > hashes.length) {
                grow();
            }
            int slot = slot(hash);
            if (hashes[slot] != 0) {
                return ids[slot];
            }
            hashes[slot] = hash;
            ids[slot] = id;
            size++;
            return -1;
        }

        private int slot(long hash) {
            int slot = (int) (hash ^ hash >>> 32) & hashes.length - 1;
            while (hashes[slot] != 0 && hashes[slot] != hash) {
                slot = slot + 1 & hashes.length - 1;
            }
            return slot;
        }

        private void grow() {
            long[] oldHashes = hashes;
            int[] oldIds = ids;
            hashes = new long[oldHashes.length * 2];
            ids = new int[hashes.length];
            IntStream.range(0, oldHashes.length).filter(i -> oldHashes[i] != 0).forEach(i -> {
                int slot = slot(oldHashes[i]);
                hashes[slot] = oldHashes[i];
                ids[slot] = oldIds[i];
            });
        }
    }
}
