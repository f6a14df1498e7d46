// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.testkit.proxy.FaultyLink;
import io.mortise.lock.testkit.report.ClassRecorder;
import io.mortise.lock.testkit.report.ConformanceReportSettings;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RandomOperationsContractTest {
    private final List<CountedLinks> backends = new CopyOnWriteArrayList<>();

    /** A backend that counts its open links. */
    private static final class CountedLinks extends LinkedBackendUnderTest<FaultyLink> {
        private final MemoryStore store = MemoryStore.create();
        private final AtomicInteger open = new AtomicInteger();

        @Override
        protected FaultyLink newLink() {
            open.incrementAndGet();
            return new FaultyLink() {
                @Override
                public void heal() {}

                @Override
                public void close() {
                    open.decrementAndGet();
                }
            };
        }

        @Override
        protected LockClient connect(FaultyLink link, ClientOptions options) {
            return MemoryLocks.connect(store, options);
        }
    }

    private BackendUnderTest newBackend() {
        CountedLinks backend = new CountedLinks();
        backends.add(backend);
        return backend;
    }

    @Test
    void aLongRunKeepsOnlyTheLinksOfItsFirstRound() throws Exception {
        ConformanceReportSettings noReport = new ConformanceReportSettings(Optional.empty(), false, Set.of());
        ClassRecorder recorder = new ClassRecorder("random operations", noReport);
        try (ContractTestFixture fixture = new ContractTestFixture(this::newBackend, recorder.test("test"))) {
            RandomOperationsContract.runRounds(fixture, () -> backends.size() < 3);
            assertThat(backends.get(0).open).hasPositiveValue();
            assertThat(backends.subList(1, backends.size()))
                    .hasSize(2)
                    .allSatisfy(backend -> assertThat(backend.open).hasValue(0));
        }
        assertThat(backends.get(0).open).hasValue(0);
    }
}
