// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Makes the application's own ZooKeeper writes depend on a lease: {@code lease.unwrap(ZooKeeperFencingCondition.class)}. Thread-safe.
 *
 * <pre>{@code
 * ZooKeeperFencingCondition guard = lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow();
 * guard.zooKeeper().multi(List.of(guard.check(), Op.setData("/inventory/42", bytes, -1)));
 * }</pre>
 *
 * The server executes the whole transaction or nothing, so a holder whose lease has ended writes nothing, even if it does not
 * know that yet.
 */
public interface ZooKeeperFencingCondition {
    /** Returns the handle of the lease's session. Only an application that opened it may close it. */
    ZooKeeper zooKeeper();

    /** Returns the path of the grant's node. It exists exactly as long as the grant, and its name is never reused. */
    String node();

    /** Returns an operation that fails a {@code multi} with {@code NoNode} once the grant has ended; put it first. */
    Op check();
}
