// SPDX-License-Identifier: Apache-2.0
/** Internal: lock nodes, the queues of contender nodes below them, and the contenders that are queued there. */
@NullMarked
package io.mortise.lock.zookeeper.queue;

import org.jspecify.annotations.NullMarked;
