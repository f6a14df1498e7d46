// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;

/** The list of all lock libraries and configurations that are compared, in the order of the report. */
final class Peers {
    private Peers() {}

    static List<Peer> all() {
        return List.of(
                new CuratorPeer(false, false),
                new CuratorPeer(false, true),
                new CuratorPeer(true, false),
                new CuratorPeer(true, true),
                new RedissonPeer(RedissonPeer.Kind.LOCK, false),
                new RedissonPeer(RedissonPeer.Kind.LOCK, true),
                new RedissonPeer(RedissonPeer.Kind.FAIR, true),
                new RedissonPeer(RedissonPeer.Kind.FENCED, true),
                new RedissonPeer(RedissonPeer.Kind.RED, true),
                new JetcdPeer(),
                new SpringPeer(SpringPeer.Kind.REDIS),
                new SpringPeer(SpringPeer.Kind.REDIS_RENEWED),
                new SpringPeer(SpringPeer.Kind.JDBC),
                new SpringPeer(SpringPeer.Kind.ZOOKEEPER),
                new ShedLockPeer(ShedLockPeer.Kind.REDIS),
                new ShedLockPeer(ShedLockPeer.Kind.REDIS_SAFE),
                new ShedLockPeer(ShedLockPeer.Kind.JDBC),
                new ShedLockPeer(ShedLockPeer.Kind.JDBC_SERVER_TIME));
    }
}
