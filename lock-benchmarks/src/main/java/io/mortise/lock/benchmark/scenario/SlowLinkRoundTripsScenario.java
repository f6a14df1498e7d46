// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import io.mortise.lock.benchmark.backend.WriteRoundTripProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;

/**
 * Estimates how many round trips an operation takes, from its duration on a slow link and the duration of one write on that link.
 */
final class SlowLinkRoundTripsScenario implements Scenario {
    private static final String LOCK = "round-trips";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int WAIT_ROUND_TRIPS = 3;

    private final Duration roundTrip;

    SlowLinkRoundTripsScenario(Duration roundTrip) {
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return "round-trips";
    }

    @Override
    public String description() {
        return "durations in round trips of " + roundTrip.toMillis() + " ms each";
    }

    @Override
    public Duration roundTrip() {
        return roundTrip;
    }

    /** Excludes polling competitors, since each hand-off starts when the other client is queued. */
    @Override
    public boolean isMeaningfulFor(Competitor competitor) {
        return !competitor.polls();
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        int times = round.roundSize().times(15, 3);
        CompetitorSession session = round.open();
        CompetitorSession other = round.open();
        try (WriteRoundTripProbe probe = round.roundTrip();
                WorkerThreads workers = new WorkerThreads(round.toString(), 1)) {
            List<Long> writeNanos = new ArrayList<>(writes(probe, times));
            cycles(round, session, true, 1); // creates the lock's own node where the store has one
            double async = median(cycles(round, session, false, times));
            writeNanos.addAll(writes(probe, times));
            double awaited = median(cycles(round, session, true, times));
            writeNanos.addAll(writes(probe, times));
            double handOff = median(handOffs(round, session, other, workers, times));
            writeNanos.addAll(writes(probe, times));
            double roundTripNanos = median(writeNanos);
            Map<String, Double> values = RoundMeasurements.inOrder();
            values.put("round trip, ms", roundTripNanos / 1e6);
            values.put("cycle, async release", async / roundTripNanos);
            values.put("cycle, release awaited", awaited / roundTripNanos);
            values.put("hand-off", handOff / roundTripNanos);
            return RoundMeasurements.of(values);
        }
    }

    private static List<Long> writes(WriteRoundTripProbe probe, int times) throws Exception {
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            probe.writeOnce();
            nanos.add(System.nanoTime() - start);
        }
        return nanos;
    }

    private static List<Long> cycles(CompetitorRoundRunner round, CompetitorSession session, boolean awaited, int times)
            throws Exception {
        ExclusionCounter exclusion = round.shared(LOCK);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            HeldGrant held = session.acquire(LOCK);
            exclusion.enter(0, held);
            exclusion.leave();
            if (awaited) {
                held.release();
            } else {
                held.releaseAsync();
            }
            nanos.add(System.nanoTime() - start);
        }
        return nanos;
    }

    /** Measures the time from the call of release to the other client's grant. */
    private List<Long> handOffs(
            CompetitorRoundRunner round,
            CompetitorSession session,
            CompetitorSession other,
            WorkerThreads workers,
            int times)
            throws Exception {
        ExclusionCounter exclusion = round.shared(LOCK);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            HeldGrant held = session.acquire(LOCK);
            exclusion.enter(0, held);
            List<Future<Long>> waiting = workers.start(List.of(() -> {
                HeldGrant next = other.acquire(LOCK);
                long granted = System.nanoTime();
                exclusion.enter(1, next);
                exclusion.leave();
                next.release();
                return granted;
            }));
            QuiescenceWait.await(round, roundTrip.multipliedBy(WAIT_ROUND_TRIPS), workers::allWait);
            exclusion.leave();
            long released = System.nanoTime();
            held.release();
            nanos.add(workers.await(waiting, LIMIT).get(0) - released);
        }
        return nanos;
    }

    private static double median(List<Long> nanos) {
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
