// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Makes the application's own ZooKeeper writes conditional on a lease. Thread-safe.
 *
 * <p>{@link io.mortise.lock.Lease#unwrap} returns the condition of a lease:
 *
 * <pre>{@code
 * ZooKeeperFencingCondition condition = lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow();
 * condition.zooKeeper().multi(List.of(condition.check(), Op.setData("/inventory/42", bytes, -1)));
 * }</pre>
 *
 * The server executes the whole transaction or none of it. So a holder whose lease has ended writes nothing, even if it has not
 * yet been notified of the loss.
 */
public interface ZooKeeperFencingCondition {
    /** Returns the handle of the lease's session. The application may close the handle only if the application opened it. */
    ZooKeeper zooKeeper();

    /** Returns the path of the grant's node. The node exists exactly as long as the grant, and its name is never reused. */
    String node();

    /** Returns an operation that makes a {@code multi} fail with {@code NoNode} once the grant has ended. Put it first. */
    Op check();
}
