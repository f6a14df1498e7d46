// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.util.Iterator;
import java.util.List;

/** Possible values of command-line options, as listed in the help text. */
abstract class OptionCandidates implements Iterable<String> {
    private final List<String> names;

    private OptionCandidates(List<String> names) {
        this.names = names;
    }

    @Override
    public Iterator<String> iterator() {
        return names.iterator();
    }

    /** Names of the backends. */
    static final class OfBackends extends OptionCandidates {
        OfBackends() {
            super(TestBeds.all().stream().map(TestBeds.Startable::name).toList());
        }
    }

    /** Names of the scenarios. */
    static final class OfScenarios extends OptionCandidates {
        OfScenarios() {
            super(Scenarios.all().stream().map(Scenario::name).toList());
        }
    }
}
