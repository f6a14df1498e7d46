// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mortise.lock.LockListener.ElectionObserver;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** The meters of elections for one backend, or for one value of the tag {@code lock}; see {@link LockMeters}. */
final class ElectionMeters {
    private final Set<Candidate> candidates = ConcurrentHashMap.newKeySet();
    private final Counter changes;

    ElectionMeters(MeterRegistry registry, Tags tags) {
        Gauge.builder("mortise.election.candidates", candidates, Collection::size)
                .description("Candidates of elections that campaign or lead now")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder("mortise.election.leading", candidates, ElectionMeters::leading)
                .description("Candidates of elections that lead now")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        changes = Counter.builder("mortise.election.changes")
                .description("Times that a candidate became the leader")
                .tags(tags)
                .register(registry);
    }

    private static double leading(Set<Candidate> candidates) {
        return candidates.stream()
                .filter(candidate -> candidate.leading.getAsBoolean())
                .count();
    }

    ElectionObserver started(BooleanSupplier leading) {
        Candidate candidate = new Candidate(leading);
        candidates.add(candidate);
        return candidate;
    }

    /** One candidate, until its campaign ends. */
    private final class Candidate implements ElectionObserver {
        private final BooleanSupplier
                leading; // asked at each scrape, so that no late callback falsifies the gauge (S2)

        Candidate(BooleanSupplier leading) {
            this.leading = leading;
        }

        @Override
        public void elected() {
            changes.increment();
        }

        @Override
        public void ended() {
            candidates.remove(this);
        }
    }
}
