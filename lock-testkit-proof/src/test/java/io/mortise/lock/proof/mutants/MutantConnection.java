// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ContenderListener;
import java.util.Map;
import java.util.Set;

/**
 * What a wrong backend can reach.
 *
 * @param shared the same for all connections of one test: what a wrong store would keep in memory
 * @param waiters likewise: whom it would wake
 */
record MutantConnection(
        MemoryStore store,
        MemoryFaults line,
        BackendContext context,
        Map<String, Long> shared,
        Set<ContenderListener> waiters) {}
