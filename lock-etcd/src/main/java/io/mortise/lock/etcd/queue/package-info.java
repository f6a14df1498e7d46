// SPDX-License-Identifier: Apache-2.0
/** Internal: the keys of locks and sessions in the store, and a lock's queue of contenders as seen by one session. */
@NullMarked
package io.mortise.lock.etcd.queue;

import org.jspecify.annotations.NullMarked;
