// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on ZooKeeper 3.6 or newer: ephemeral sequential nodes, one session per client. Excludes Curator's
 * InterProcessMutex on the same path, and is excluded by it.
 */
@NullMarked
package io.mortise.lock.zookeeper;

import org.jspecify.annotations.NullMarked;
