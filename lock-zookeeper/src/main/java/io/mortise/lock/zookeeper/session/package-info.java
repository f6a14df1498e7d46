// SPDX-License-Identifier: Apache-2.0
/** Internal: the client's ZooKeeper session, its handle, its requests, and the checks that it is alive. */
@NullMarked
package io.mortise.lock.zookeeper.session;

import org.jspecify.annotations.NullMarked;
