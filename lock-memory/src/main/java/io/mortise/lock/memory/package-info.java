// SPDX-License-Identifier: Apache-2.0
/**
 * Locks in memory: the reference backend, and the test double for applications. {@link io.mortise.lock.memory.MemoryStore}
 * is the store, {@link io.mortise.lock.memory.MemoryLocks} the way in, {@link io.mortise.lock.memory.MemoryFaults} what can
 * be made to go wrong. It excludes nobody outside this JVM.
 */
@NullMarked
package io.mortise.lock.memory;

import org.jspecify.annotations.NullMarked;
