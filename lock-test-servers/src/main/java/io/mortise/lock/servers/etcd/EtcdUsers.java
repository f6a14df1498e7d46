// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/** Creates users of etcd and their permissions. */
final class EtcdUsers {
    /** Who may do everything, and without whom etcd asks nobody for a password. */
    static final String ROOT = "root";

    private EtcdUsers() {}

    /** From now on the server asks for users, and root has that password; no-op if it does already. */
    static void enable(RawEtcd etcd, String password) {
        if (isEnabled(etcd)) {
            return;
        }
        etcd.call("auth/user/add", Map.of("name", ROOT, "password", password));
        etcd.call("auth/role/add", Map.of("name", ROOT));
        etcd.call("auth/user/grant", Map.of("user", ROOT, "role", ROOT));
        etcd.call("auth/enable", Map.of());
    }

    private static boolean isEnabled(RawEtcd etcd) {
        try {
            etcd.call("auth/authenticate", Map.of("name", ROOT, "password", ""));
            return true;
        } catch (RawEtcd.ErrorReply e) {
            // It refuses this in any case, but with another reason once it asks for users.
            return !String.valueOf(e.getMessage()).contains("authentication is not enabled");
        }
    }

    /** A new user, who may read and write the keys with that prefix; {@code etcd} is root's. */
    static void add(RawEtcd etcd, String name, String password, String prefix) {
        etcd.call("auth/user/add", Map.of("name", name, "password", password));
        etcd.call("auth/role/add", Map.of("name", name));
        Map<String, String> keys =
                Map.of("permType", "READWRITE", "key", EtcdJson.base64(prefix), "range_end", EtcdJson.endOf(prefix));
        etcd.call("auth/role/grant", Map.of("name", name, "perm", keys));
        etcd.call("auth/user/grant", Map.of("user", name, "role", name));
    }
}
