// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Puts the application's own ZooKeeper writes under a lease: {@code lease.unwrap(ZooKeeperGuard.class)}. Thread-safe.
 *
 * <pre>{@code
 * ZooKeeperGuard guard = lease.unwrap(ZooKeeperGuard.class).orElseThrow();
 * guard.zooKeeper().multi(List.of(guard.check(), Op.setData("/inventory/42", bytes, -1)));
 * }</pre>
 *
 * The server carries out all of it or nothing, so a holder whose lease is over writes nothing, however late it finds out.
 */
public interface ZooKeeperGuard {
    /** The handle that the lease lives on. Not to be closed by the application, unless it opened it. */
    ZooKeeper zooKeeper();

    /** The node that is the grant; it exists exactly as long as the grant does, and no other grant ever has its name. */
    String node();

    /** The first operation of a {@code multi}: fails it with {@code NoNode} when the grant is gone. */
    Op check();
}
