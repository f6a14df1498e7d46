// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

/** The stores that the peers use. */
enum StoreKind {
    ZOOKEEPER,
    REDIS,
    REDIS_MASTERS,
    ETCD,
    H2
}
