// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/**
 * Status of one etcd node. Immutable.
 *
 * @param member its own id, unsigned
 * @param leader the id of the node that it follows; 0 if it knows of none
 * @param term the term of that leader: higher than that of all before
 * @param version such as {@code 3.4.23}
 */
public record EtcdStatus(long member, long leader, long term, String version) {
    static EtcdStatus of(Map<?, ?> json) {
        return new EtcdStatus(
                EtcdJson.number(EtcdJson.map(json, "header"), "member_id"),
                EtcdJson.number(json, "leader"),
                EtcdJson.number(json, "raftTerm"),
                String.valueOf(json.get("version")));
    }

    /** Whether it believes that it leads. */
    public boolean leads() {
        return member == leader;
    }
}
