// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import io.etcd.jetcd.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Describes, for operators, a contender key that another program created, such as {@code etcdctl lock}. */
final class EtcdForeignContenderAttributes {
    private EtcdForeignContenderAttributes() {}

    static Map<String, String> of(KeyValue key) {
        String path = key.getKey().toString(StandardCharsets.UTF_8);
        String lease = Long.toHexString(key.getLease());
        Map<String, String> attributes = new LinkedHashMap<>();
        if (key.getLease() != 0 && path.endsWith("/" + lease)) {
            attributes.put("client", "etcdctl lock or Go's concurrency.Mutex");
        }
        attributes.put("key", path);
        attributes.put("lease", key.getLease() == 0 ? "none: the key stays until it is deleted" : lease);
        return attributes;
    }
}
