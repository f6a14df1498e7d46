// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ContenderListener;
import java.util.Map;
import java.util.Set;

/**
 * The parts of one connection to the in-memory store that a mutant's backend can access.
 *
 * @param store the store
 * @param faults the faults of this connection
 * @param context the context of the backend
 * @param shared state that a wrong store would keep in memory, shared by all connections of one test
 * @param waiters listeners that a wrong store would wake, shared by all connections of one test
 */
record MutantConnection(
        MemoryStore store,
        MemoryFaults faults,
        BackendContext context,
        Map<String, Long> shared,
        Set<ContenderListener> waiters) {}
