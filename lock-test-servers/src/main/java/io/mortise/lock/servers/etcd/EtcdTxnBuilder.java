// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Builds and commits one etcd transaction for tests. Not thread-safe. */
public final class EtcdTxnBuilder {
    private final RawEtcd etcd;
    private final List<Map<String, ?>> conditions = new ArrayList<>();
    private final List<Map<String, ?>> operations = new ArrayList<>();

    EtcdTxnBuilder(RawEtcd etcd) {
        this.etcd = etcd;
    }

    /** Adds the condition that the key does not exist. */
    public EtcdTxnBuilder ifAbsent(String key) {
        return ifCreateRevision(key, 0);
    }

    /** Adds the condition that the key was created at that revision and has not been deleted since. */
    public EtcdTxnBuilder ifCreateRevision(String key, long revision) {
        return compare(key, "CREATE", "create_revision", Long.toString(revision));
    }

    /** Adds the condition that the key has that value. */
    public EtcdTxnBuilder ifValue(String key, String value) {
        return compare(key, "VALUE", "value", EtcdJson.base64(value));
    }

    private EtcdTxnBuilder compare(String key, String target, String field, String value) {
        conditions.add(Map.of("key", EtcdJson.base64(key), "target", target, "result", "EQUAL", field, value));
        return this;
    }

    /** Adds the operation that puts a key without a lease. */
    public EtcdTxnBuilder thenPut(String key, String value) {
        return thenPut(key, value, 0);
    }

    /** Adds the operation that puts a key and attaches it to a lease. */
    public EtcdTxnBuilder thenPut(String key, String value, long lease) {
        operations.add(Map.of("request_put", RawEtcd.putRequest(key, value, lease)));
        return this;
    }

    /** Adds the operation that deletes a key. */
    public EtcdTxnBuilder thenDelete(String key) {
        operations.add(Map.of("request_delete_range", Map.of("key", EtcdJson.base64(key))));
        return this;
    }

    /** Sends the transaction and returns whether all conditions held. */
    public boolean commit() {
        Map<String, ?> reply = etcd.call("kv/txn", Map.of("compare", conditions, "success", operations));
        return Boolean.TRUE.equals(reply.get("succeeded"));
    }
}
