// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on ZooKeeper 3.6 or newer, with ephemeral sequential nodes and one session per client. A Mortise lock and Curator's
 * InterProcessMutex on the same path exclude each other. The packages below this one are internal.
 */
@NullMarked
package io.mortise.lock.zookeeper;

import org.jspecify.annotations.NullMarked;
