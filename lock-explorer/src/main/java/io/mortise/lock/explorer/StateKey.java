// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The key of a world, built part by part: equal for two worlds if and only if the same can happen from both. Names of equal
 * participants, times and sequence numbers are replaced by what counts about them, so that there are finitely many keys.
 *
 * <p>A time, or a token made from one, is a number of 16 digits, in µs. Two worlds with one key behave alike only if their time
 * advances by steps that are either tiny, so that all together are shorter than {@link #LONG_GAP_MICROS}, or multiples of it, and
 * if no sum of long steps equals a time that the protocol compares with, or nothing.
 *
 * <p>Not thread-safe.
 */
public final class StateKey {
    /** From half of this gap on, in µs, a gap between two times counts by its length, since deadlines are that long. */
    public static final long LONG_GAP_MICROS = 100_000;

    private static final int MOST_CACHED = 200_000;
    private static final int TIME_DIGITS = 16;
    private static final int SEQUENCE_DIGITS = 10;
    private static final int ID_DIGITS = 32;

    // The kinds of tokens, in their lowest bits. The others are:
    private static final int TEXT = 0; // an index of texts
    private static final int NUMBER = 1;
    private static final int FLAGS = 2; // bits, the highest of which marks their number
    private static final int TIME = 3;
    private static final int SEQUENCE = 4;
    private static final int PARTICIPANT = 5;
    private static final int LABEL = 6; // of a participant
    private static final int KIND_BITS = 3;

    private long[] tokens = new long[512];
    private int size;
    private int @Nullable [] labels;

    /** The tokens of the texts of immutable values, which are slow to make. */
    private final Map<@Nullable Object, long[]> parts = new HashMap<>();

    /** The last of them, by the identity of the value: hashing a value takes long too. */
    private final @Nullable KnownValue[] recent = new KnownValue[1 << 12];

    private final List<String> texts = new ArrayList<>();
    private final Map<String, Long> indexes = new HashMap<>();
    private final Ranks times = new Ranks();
    private final Ranks sequences = new Ranks();

    private static final class KnownValue {
        final @Nullable Object value;
        final long[] tokens;

        KnownValue(@Nullable Object value, long[] tokens) {
            this.value = value;
            this.tokens = tokens;
        }
    }

    /** Begins anew. */
    public void clear() {
        size = 0;
        labels = null;
    }

    /** Adds a number; one of 16 digits is a time. */
    public StateKey number(long number) {
        add(number, isTime(number) ? TIME : NUMBER);
        return this;
    }

    /** Adds numbers in their order. */
    public StateKey numbers(Collection<? extends Number> all) {
        return list(all, (key, each) -> key.number(each.longValue()));
    }

    /** Adds a sequence number, of which only the order among the others counts. */
    public StateKey sequence(long number) {
        add(number, SEQUENCE);
        return this;
    }

    /** Adds flags. */
    public StateKey flags(boolean... flags) {
        long bits = 1;
        for (boolean flag : flags) {
            bits = bits << 1 | (flag ? 1 : 0);
        }
        add(bits, FLAGS);
        return this;
    }

    /** Adds the name of a participant, which one of its labels replaces; see {@link #participants}. */
    public StateKey participant(int participant) {
        add(participant, PARTICIPANT);
        return this;
    }

    /**
     * Adds the text of a value that is never changed, such as a record, or the simple name of a class; equal values must have
     * equal texts. In a text, numbers of 16 digits are times, those of 10 are sequence numbers, and a digit after # or at the end
     * of 32 hexadecimal digits is a participant.
     */
    public StateKey value(@Nullable Object value) {
        int slot = System.identityHashCode(value) & recent.length - 1;
        KnownValue known = recent[slot];
        if (known != null && known.value == value) {
            append(known.tokens);
            return this;
        }
        long[] part = parts.get(value);
        if (part == null) {
            part = parse(value instanceof Class<?> type ? type.getSimpleName() : String.valueOf(value));
            if (parts.size() >= MOST_CACHED) {
                parts.clear();
            }
            parts.put(value, part);
        }
        recent[slot] = new KnownValue(value, part);
        append(part);
        return this;
    }

    /** Adds parts in their order. */
    public <T> StateKey list(Collection<? extends T> all, BiConsumer<StateKey, T> describe) {
        number(all.size());
        for (T each : all) {
            describe.accept(this, each);
        }
        return this;
    }

    /** Adds parts of which the order does not count. */
    public <T> StateKey unordered(Collection<? extends T> all, BiConsumer<StateKey, T> describe) {
        if (all.size() < 2) {
            return list(all, describe);
        }
        number(all.size());
        long[][] sorted = new long[all.size()][];
        int i = 0;
        for (T each : all) {
            sorted[i++] = part(key -> describe.accept(key, each));
        }
        Arrays.sort(sorted, Arrays::compare);
        for (long[] part : sorted) {
            append(part);
        }
        return this;
    }

    /**
     * Adds all participants, in an order that depends on what they do, and not on which of several equal ones is which. Their
     * places in this order are their labels.
     *
     * @param view describes what makes a participant differ from others, without names
     * @param details describes the rest, also with names
     */
    public void participants(int count, ObjIntConsumer<StateKey> view, ObjIntConsumer<StateKey> details) {
        long[][] views = new long[count][];
        for (int i = 0; i < count; i++) {
            int participant = i;
            views[i] = part(key -> view.accept(key, participant));
        }
        int[] places = new int[count];
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++) {
                int compared = Arrays.compare(views[j], views[i]);
                places[i] += compared < 0 || (compared == 0 && j < i) ? 1 : 0;
            }
            order[places[i]] = i;
        }
        for (int participant : order) {
            append(views[participant]);
            details.accept(this, participant);
        }
        labels = places;
    }

    /**
     * Adds the least of several parts, which describe the same with other labels.
     *
     * @param orders the labels in each part
     */
    public void leastOf(List<int[]> orders, Consumer<int[]> describe) {
        append(orders.stream()
                .map(given -> labelled(given, describe))
                .min(Arrays::compare)
                .orElseThrow());
    }

    private long[] labelled(int[] given, Consumer<int[]> describe) {
        labels = given;
        long[] part = part(key -> describe.accept(given));
        labels = null;
        return part;
    }

    /** Returns a part instead of adding it. */
    private long[] part(Consumer<StateKey> describe) {
        int from = size;
        describe.accept(this);
        long[] part = Arrays.copyOfRange(tokens, from, size);
        size = from;
        return part;
    }

    private void append(long[] part) {
        if (labels != null) {
            for (long token : part) {
                add(token >> KIND_BITS, kind(token));
            }
            return;
        }
        if (size + part.length > tokens.length) {
            tokens = Arrays.copyOf(tokens, size + part.length + tokens.length);
        }
        System.arraycopy(part, 0, tokens, size, part.length);
        size += part.length;
    }

    private void add(long value, int kind) {
        if (size == tokens.length) {
            tokens = Arrays.copyOf(tokens, size * 2);
        }
        int @Nullable [] given = labels;
        tokens[size++] = kind == PARTICIPANT && given != null
                ? (long) given[(int) value] << KIND_BITS | LABEL
                : value << KIND_BITS | kind;
    }

    private static int kind(long token) {
        return (int) token & (1 << KIND_BITS) - 1;
    }

    private static boolean isTime(long number) {
        return number >= 1_000_000_000_000_000L && number < 10_000_000_000_000_000L;
    }

    // ---- the texts of values

    private long[] parse(String text) {
        int @Nullable [] given = labels;
        labels = null;
        long[] part = part(key -> key.addParsed(text));
        labels = given;
        return part;
    }

    private void addParsed(String text) {
        int literal = 0;
        for (int at = 0; at < text.length(); at++) {
            int end = endOfDigits(text, at);
            int width = end - at;
            int name = text.charAt(at) == '#' ? at + 1 : width == ID_DIGITS ? end - 1 : -1;
            if (name >= 0 && name < text.length() && Character.isDigit(text.charAt(name))) {
                addText(text.substring(literal, at));
                participant(text.charAt(name) - '0');
                end = name + 1;
                literal = end;
            } else if (width == TIME_DIGITS || width == SEQUENCE_DIGITS) {
                addText(text.substring(literal, at));
                add(Long.parseLong(text, at, end, 10), width == TIME_DIGITS ? TIME : SEQUENCE);
                literal = end;
            }
            at = Math.max(at, end - 1);
        }
        addText(text.substring(literal));
    }

    /** Returns the end of the hexadecimal digits that begin there. */
    private static int endOfDigits(String text, int from) {
        int end = from;
        while (end < text.length() && Character.digit(text.charAt(end), 16) >= 0) {
            end++;
        }
        return end;
    }

    private void addText(String text) {
        if (!text.isEmpty()) {
            long index = indexes.computeIfAbsent(text, each -> (long) texts.size());
            if (index == texts.size()) {
                texts.add(text);
            }
            add(index, TEXT);
        }
    }

    // ---- the whole

    /**
     * Returns a hash of 64 bits. With n worlds, two different ones have the same hash with a probability of about n²/2⁶⁵: 10⁻⁹ for
     * 200,000, and 10⁻⁵ for 20 million.
     */
    public long hash() {
        rank();
        long hash = 0x9E3779B97F4A7C15L;
        for (int i = 0; i < size; i++) {
            hash = (hash ^ value(tokens[i])) * 0xD6E8FEB86659FD93L + kind(tokens[i]);
            hash ^= hash >>> 32;
        }
        return hash;
    }

    private void rank() {
        times.clear();
        sequences.clear();
        for (int i = 0; i < size; i++) {
            int kind = kind(tokens[i]);
            if (kind == TIME) {
                times.add(tokens[i] >> KIND_BITS);
            } else if (kind == SEQUENCE) {
                sequences.add(tokens[i] >> KIND_BITS);
            }
        }
        times.compute();
        sequences.compute();
    }

    /** Returns what counts about a token, besides its kind. */
    private long value(long token) {
        long value = token >> KIND_BITS;
        return switch (kind(token)) {
            case TIME -> times.of(value);
            case SEQUENCE -> sequences.of(value);
            case PARTICIPANT -> labels == null ? value : labels[(int) value];
            default -> value;
        };
    }

    /** Returns the parts as a text to be read. */
    @Override
    public String toString() {
        rank();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < size; i++) {
            String text = text(tokens[i]);
            if (i > 0
                    && Character.isLetterOrDigit(all.charAt(all.length() - 1))
                    && Character.isLetterOrDigit(text.charAt(0))) {
                all.append(' ');
            }
            all.append(text);
        }
        return all.toString();
    }

    private String text(long token) {
        long value = value(token);
        return switch (kind(token)) {
            case TEXT -> texts.get((int) value);
            case FLAGS ->
                Long.toBinaryString(value).substring(1).replace('1', '+').replace('0', '-');
            case TIME -> "t" + value;
            case PARTICIPANT, LABEL -> "#" + value;
            default -> String.valueOf(value);
        };
    }
}
