// SPDX-License-Identifier: Apache-2.0
/** A model of ZooKeeper: what transactions do to its nodes. */
@NullMarked
package io.mortise.lock.explorer.zookeeper;

import org.jspecify.annotations.NullMarked;
