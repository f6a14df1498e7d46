// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/**
 * An etcd key with its value, revisions and lease. Immutable.
 *
 * @param createRevision the revision at which the key was last created
 * @param modRevision the revision at which the value was last put
 * @param version the number of puts since the key was created
 * @param lease the id of the lease that the key is attached to; 0 if there is none
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
