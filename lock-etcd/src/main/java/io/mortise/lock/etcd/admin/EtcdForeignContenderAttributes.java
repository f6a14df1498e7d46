// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import io.etcd.jetcd.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Describes a contender's key that another client made. */
final class EtcdForeignContenderAttributes {
    private EtcdForeignContenderAttributes() {}

    static Map<String, String> about(KeyValue key) {
        String path = key.getKey().toString(StandardCharsets.UTF_8);
        String lease = Long.toHexString(key.getLease());
        Map<String, String> about = new LinkedHashMap<>();
        if (key.getLease() != 0 && path.endsWith("/" + lease)) {
            about.put("client", "etcdctl lock or Go's concurrency.Mutex");
        }
        about.put("key", path);
        about.put("lease", key.getLease() == 0 ? "none: it stays until somebody deletes it" : lease);
        return about;
    }
}
