// SPDX-License-Identifier: Apache-2.0
/**
 * The in-memory backend, for tests of applications and as the reference for other backends.
 *
 * <p>{@link io.mortise.lock.memory.MemoryStore} is the store, {@link io.mortise.lock.memory.MemoryLocks} connects clients to
 * it, and {@link io.mortise.lock.memory.MemoryFaults} injects faults. The locks give no exclusion between different JVMs.
 */
@NullMarked
package io.mortise.lock.memory;

import org.jspecify.annotations.NullMarked;
