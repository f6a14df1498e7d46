// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

/** The kinds of store on which the other lock libraries are tested. */
enum StoreKind {
    ZOOKEEPER,
    REDIS,
    REDIS_MASTERS,
    ETCD,
    H2
}
