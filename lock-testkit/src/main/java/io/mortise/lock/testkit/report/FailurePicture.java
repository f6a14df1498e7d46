// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.testkit.report.LockEvent.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Data for the timeline diagram of a failed test in the HTML report: one lane for each client and lock, with waits, leases
 * and faults.
 *
 * <p>Coordinates are those of the SVG. Two leases of one lock that overlap are drawn as a violation.
 */
final class FailurePicture {
    private static final int LEFT = 190;
    private static final int WIDTH = 560;
    private static final int TOP = 28;
    private static final int LANE = 26;
    private static final int MAX_LANES = 12;
    private static final int TICKS = 5;
    private static final int MAX_LABEL = 28;
    private static final int MAX_FAILURE = 80;

    private final List<LockEvent> events;
    private final long begin;
    private final long end;

    /** One lane: what one client did with one lock. */
    private static final class Lane {
        final String client;
        final String lock;
        final List<Span> spans = new ArrayList<>();
        long latest;

        Lane(String client, String lock) {
            this.client = client;
            this.lock = lock;
        }
    }

    /** A part of a lane. */
    private record Span(long from, long to, String style, String title) {}

    private FailurePicture(List<LockEvent> events) {
        this.events = events;
        this.begin = events.get(0).atMicros();
        this.end = Math.max(events.get(events.size() - 1).atMicros(), begin + 1);
    }

    /** Returns the values of the template. */
    static Map<String, Object> of(List<LockEvent> events) {
        return events.size() < 2 ? Map.of() : new FailurePicture(events).view();
    }

    private Map<String, Object> view() {
        List<Lane> lanes = lanes();
        int bottom = TOP + LANE * lanes.size();
        List<Map<String, Object>> laneViews = new ArrayList<>();
        for (int i = 0; i < lanes.size(); i++) {
            laneViews.add(laneView(lanes.get(i), TOP + LANE * i));
        }
        List<Map<String, Object>> serverFaults = faults("", "").stream()
                .map(span -> rectangle(span, TOP, bottom - TOP))
                .toList();
        List<Map<String, Object>> ticks = new ArrayList<>();
        for (int i = 0; i <= TICKS; i++) {
            long at = begin + (end - begin) * i / TICKS;
            ticks.add(Map.of("x", x(at), "label", String.format(Locale.ROOT, "%.2f s", at / 1e6)));
        }
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("width", LEFT + WIDTH + 20);
        view.put("height", bottom + 30);
        view.put("top", TOP - 6);
        view.put("bottom", bottom);
        view.put("tickY", bottom + 16);
        view.put("end", x(end));
        view.put("lanes", laneViews);
        view.put("serverFaults", serverFaults);
        view.put("ticks", ticks);
        events.stream()
                .filter(event -> event.kind() == Kind.FAILED)
                .findFirst()
                .ifPresent(event -> view.put("failed", "the test fails: " + shortened(event.detail(), MAX_FAILURE)));
        return view;
    }

    /** Returns the lanes that were active last, in the order of their first events. */
    private List<Lane> lanes() {
        Map<String, Lane> lanes = new LinkedHashMap<>();
        Map<String, LockEvent> waiting = new LinkedHashMap<>();
        Map<String, LockEvent> holding = new LinkedHashMap<>();
        for (LockEvent event : events) {
            if (event.client().isEmpty() || event.lock().isEmpty()) {
                continue;
            }
            Lane lane = lanes.computeIfAbsent(
                    event.client() + '\n' + event.lock(), key -> new Lane(event.client(), event.lock()));
            lane.latest = event.atMicros();
            switch (event.kind()) {
                case REQUESTED -> waiting.put(event.attempt(), event);
                case GRANTED -> {
                    close(lane, waiting.remove(event.attempt()), event.atMicros(), "waits", "waits");
                    holding.put(event.attempt(), event);
                }
                case RENEWED -> lane.spans.add(new Span(event.atMicros(), event.atMicros(), "renewed", "renewed"));
                case LOST -> {
                    close(lane, holding.remove(event.attempt()), event.atMicros(), "holds", "held, then lost");
                    lane.spans.add(new Span(event.atMicros(), event.atMicros(), "lost", "lost: " + event.detail()));
                }
                case ENDING, ENDED -> {
                    close(lane, waiting.remove(event.attempt()), event.atMicros(), "waits", "waited");
                    close(lane, holding.remove(event.attempt()), event.atMicros(), "holds", "held, then released");
                }
                default -> {}
            }
        }
        waiting.values().forEach(event -> close(lane(lanes, event), event, end, "waits", "still waits"));
        holding.values().forEach(event -> close(lane(lanes, event), event, end, "holds", "still holds"));
        markOverlaps(lanes.values().stream().toList());
        List<Lane> latest = lanes.values().stream()
                .sorted(Comparator.comparingLong((Lane lane) -> lane.latest).reversed())
                .limit(MAX_LANES)
                .toList();
        return lanes.values().stream().filter(latest::contains).toList();
    }

    private static @Nullable Lane lane(Map<String, Lane> lanes, LockEvent event) {
        return lanes.get(event.client() + '\n' + event.lock());
    }

    private static void close(@Nullable Lane lane, @Nullable LockEvent from, long to, String style, String title) {
        if (lane != null && from != null) {
            lane.spans.add(new Span(
                    from.atMicros(), to, style, title + (from.detail().isEmpty() ? "" : ", " + from.detail())));
        }
    }

    private static void markOverlaps(List<Lane> lanes) {
        for (Lane one : lanes) {
            for (Lane other : lanes) {
                if (one == other || !one.lock.equals(other.lock)) {
                    continue;
                }
                List<Span> overlaps = new ArrayList<>();
                for (Span a : one.spans) {
                    for (Span b : other.spans) {
                        long from = Math.max(a.from(), b.from());
                        long to = Math.min(a.to(), b.to());
                        if (a.style().equals("holds") && b.style().equals("holds") && from < to) {
                            overlaps.add(new Span(from, to, "violation", "two leases at once"));
                        }
                    }
                }
                one.spans.addAll(overlaps);
            }
        }
    }

    /** Returns the faults of a client's link, of one of its locks, or, for two empty names, of the server. */
    private List<Span> faults(String client, String lock) {
        List<Span> spans = new ArrayList<>();
        LockEvent open = null;
        for (LockEvent event : events) {
            if (event.kind() == Kind.FAULT && !event.lock().isEmpty()) {
                if (event.lock().equals(lock)) {
                    spans.add(new Span(event.atMicros(), event.atMicros(), "fault-mark", event.detail()));
                }
            } else if (event.client().equals(client) && event.kind() == Kind.FAULT) {
                if (event.detail().equals("expireSession")) {
                    spans.add(new Span(event.atMicros(), event.atMicros(), "fault-mark", event.detail()));
                } else if (open == null) {
                    open = event;
                }
            } else if (event.client().equals(client) && event.kind() == Kind.HEALED && open != null) {
                spans.add(new Span(open.atMicros(), event.atMicros(), "fault", open.detail()));
                open = null;
            }
        }
        if (open != null) {
            spans.add(new Span(open.atMicros(), end, "fault", open.detail()));
        }
        return spans;
    }

    private Map<String, Object> laneView(Lane lane, int y) {
        List<Map<String, Object>> parts = new ArrayList<>();
        lane.spans.stream()
                .sorted(Comparator.comparing(span -> span.style().equals("violation")))
                .forEach(span -> parts.add(rectangle(span, y + 6, LANE - 12)));
        faults(lane.client, lane.lock).forEach(fault -> parts.add(rectangle(fault, y, LANE)));
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("label", shortened(lane.client + " · " + lane.lock, MAX_LABEL));
        view.put("textY", y + LANE / 2 + 4);
        view.put("lineY", y + LANE);
        view.put("parts", parts);
        return view;
    }

    private static String shortened(String label, int length) {
        return label.codePointCount(0, label.length()) <= length
                ? label
                : label.substring(0, label.offsetByCodePoints(0, length - 1)) + "…";
    }

    private Map<String, Object> rectangle(Span span, int y, int height) {
        double from = LEFT + (double) (span.from() - begin) * WIDTH / (end - begin);
        double width = Math.max(2, (double) (span.to() - span.from()) * WIDTH / (end - begin));
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("x", String.format(Locale.ROOT, "%.1f", from));
        view.put("y", y);
        view.put("w", String.format(Locale.ROOT, "%.1f", width));
        view.put("h", height);
        view.put("style", span.style());
        view.put("title", span.title());
        if (span.style().startsWith("fault")) {
            view.put("note", span.title());
            view.put("noteX", String.format(Locale.ROOT, "%.1f", from + 4));
            view.put("noteY", y + height / 2 + 4);
        }
        return view;
    }

    private String x(long at) {
        return String.format(Locale.ROOT, "%.1f", LEFT + (double) (at - begin) * WIDTH / (end - begin));
    }
}
