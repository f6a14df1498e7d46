// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.Map;

/** Creates users on an etcd server and grants their permissions. */
final class EtcdUsers {
    /** Name of the user with all permissions, without whom etcd cannot enable authentication. */
    static final String ROOT = "root";

    private EtcdUsers() {}

    /** Enables authentication with the given root password, unless it is already enabled. */
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
            // The server rejects this request in either case, but with another message once authentication is enabled.
            return !String.valueOf(e.getMessage()).contains("authentication is not enabled");
        }
    }

    /**
     * Adds a user who may read and write the keys with a prefix.
     *
     * @param etcd client of the user root
     */
    static void add(RawEtcd etcd, String name, String password, String prefix) {
        etcd.call("auth/user/add", Map.of("name", name, "password", password));
        etcd.call("auth/role/add", Map.of("name", name));
        Map<String, String> keys = Map.of(
                "permType", "READWRITE", "key", EtcdJson.base64(prefix), "range_end", EtcdJson.prefixEnd(prefix));
        etcd.call("auth/role/grant", Map.of("name", name, "perm", keys));
        etcd.call("auth/user/grant", Map.of("user", name, "role", name));
    }
}
