// SPDX-License-Identifier: Apache-2.0
/** Internal: a client's ZooKeeper session, the requests and watches on it, and the checks that it is alive. */
@NullMarked
package io.mortise.lock.zookeeper.session;

import org.jspecify.annotations.NullMarked;
