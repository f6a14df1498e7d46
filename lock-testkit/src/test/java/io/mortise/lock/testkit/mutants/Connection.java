// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.mutants;

import io.mortise.lock.memory.MemoryFaults;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spi.BackendContext;
import java.util.Map;

/**
 * What a wrong backend can reach.
 *
 * @param shared the same for all connections of one test: what a wrong store would keep
 */
record Connection(MemoryStore store, MemoryFaults line, BackendContext context, Map<String, Long> shared) {}
