// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** See {@link ZooKeeperGuard}. */
record ZkGuard(ZooKeeper zooKeeper, String node) implements ZooKeeperGuard {
    @Override
    public Op check() {
        return Op.check(node, -1);
    }
}
