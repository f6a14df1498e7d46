// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.util.Optional;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** A fencing condition that makes a ZooKeeper transaction fail unless the lock grant's node still exists. */
record GrantNodeCondition(ZooKeeper zooKeeper, String node) implements ZooKeeperFencingCondition {
    /** Implements {@link io.mortise.lock.Lease#unwrap} for the lease whose grant is this node. */
    static <T> Optional<T> unwrap(Class<T> type, ZooKeeper handle, String node) {
        return type == ZooKeeperFencingCondition.class
                ? Optional.of(type.cast(new GrantNodeCondition(handle, node)))
                : Optional.empty();
    }

    @Override
    public Op check() {
        return Op.check(node, -1);
    }
}
