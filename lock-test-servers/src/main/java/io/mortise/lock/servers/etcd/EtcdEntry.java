// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/**
 * A key of etcd with its value and revisions. Immutable.
 *
 * @param createRevision the revision of the store when it was created, after it was deleted the last time
 * @param modRevision the revision of the store when its value was put last
 * @param version how often it was put since it was created
 * @param lease the lease that deletes it; 0 if there is none
 */
public record EtcdEntry(String key, String value, long createRevision, long modRevision, long version, long lease) {
    static EtcdEntry of(Map<?, ?> json) {
        return new EtcdEntry(
                EtcdJson.text(json, "key"),
                EtcdJson.text(json, "value"),
                EtcdJson.number(json, "create_revision"),
                EtcdJson.number(json, "mod_revision"),
                EtcdJson.number(json, "version"),
                EtcdJson.number(json, "lease"));
    }
}
