// SPDX-License-Identifier: Apache-2.0
/**
 * ZooKeeper for tests: servers in this JVM or in child JVMs, and ensembles whose internal connections can be cut.
 */
@NullMarked
package io.mortise.lock.servers.zookeeper;

import org.jspecify.annotations.NullMarked;
