// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/**
 * The status that one etcd node reports about itself. Immutable.
 *
 * @param member id of the node, unsigned
 * @param leader id of the leader that the node follows; 0 if it knows no leader
 * @param term Raft term, which increases with each election
 * @param version server version, such as {@code 3.4.23}
 */
public record EtcdStatus(long member, long leader, long term, String version) {
    static EtcdStatus of(Map<?, ?> json) {
        return new EtcdStatus(
                EtcdJson.number(EtcdJson.map(json, "header"), "member_id"),
                EtcdJson.number(json, "leader"),
                EtcdJson.number(json, "raftTerm"),
                String.valueOf(json.get("version")));
    }

    /** Returns whether the node considers itself the leader. */
    public boolean leads() {
        return member == leader;
    }
}
