// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.util.Iterator;
import java.util.List;

/** Values that the help offers for options. */
abstract class OptionCandidates implements Iterable<String> {
    private final List<String> names;

    private OptionCandidates(List<String> names) {
        this.names = names;
    }

    @Override
    public Iterator<String> iterator() {
        return names.iterator();
    }

    static final class OfBackends extends OptionCandidates {
        OfBackends() {
            super(TestBeds.all().stream().map(TestBeds.Startable::name).toList());
        }
    }

    static final class OfScenarios extends OptionCandidates {
        OfScenarios() {
            super(Scenarios.all().stream().map(Scenario::name).toList());
        }
    }
}
