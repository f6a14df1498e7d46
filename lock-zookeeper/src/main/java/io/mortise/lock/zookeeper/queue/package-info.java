// SPDX-License-Identifier: Apache-2.0
/** Internal: a lock's queue of contender nodes, and the contenders that take part in it. */
@NullMarked
package io.mortise.lock.zookeeper.queue;

import org.jspecify.annotations.NullMarked;
