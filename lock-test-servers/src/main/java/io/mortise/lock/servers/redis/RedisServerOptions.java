// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Options of a Redis test server. Immutable.
 *
 * @param keepsData whether its data outlives a restart and a kill: an append-only file, synced before each reply
 * @param password what a client must give, of the default user
 * @param unixSocket whether it listens on a Unix socket as well
 * @param tls whether it listens on a port with TLS as well
 * @param ownClock whether its clock can be set, as {@link RedisTestServer#setClock} says
 * @param arguments more of its command line, such as {@code --maxmemory-policy}, {@code allkeys-lru}; not about its log, which
 *     says when it serves
 */
public record RedisServerOptions(
        boolean keepsData,
        Optional<String> password,
        boolean unixSocket,
        boolean tls,
        boolean ownClock,
        List<String> arguments) {
    /** The same with a copy of the list. */
    public RedisServerOptions {
        arguments = List.copyOf(arguments);
    }

    /** Nothing of that: a restart loses all data, and clients need no password. */
    public static RedisServerOptions defaults() {
        return new RedisServerOptions(false, Optional.empty(), false, false, false, List.of());
    }

    /** The same, and its data outlives a restart and a kill. */
    public RedisServerOptions withKeptData() {
        return new RedisServerOptions(true, password, unixSocket, tls, ownClock, arguments);
    }

    /** The same with a password of the default user. */
    public RedisServerOptions withPassword(String value) {
        return new RedisServerOptions(keepsData, Optional.of(value), unixSocket, tls, ownClock, arguments);
    }

    /** The same with a Unix socket beside the port. */
    public RedisServerOptions withUnixSocket() {
        return new RedisServerOptions(keepsData, password, true, tls, ownClock, arguments);
    }

    /** The same with a port for TLS beside the plain one. */
    public RedisServerOptions withTls() {
        return new RedisServerOptions(keepsData, password, unixSocket, true, ownClock, arguments);
    }

    /** The same with a clock that can be set; needs {@link RedisTestServer#canSetClock()}. */
    public RedisServerOptions withOwnClock() {
        return new RedisServerOptions(keepsData, password, unixSocket, tls, true, arguments);
    }

    /**
     * The same with one more user of the access control list.
     *
     * @param rules as {@code ACL SETUSER} takes them, such as {@code on}, {@code >secret}, {@code ~*}, {@code &*}, {@code +@all}
     */
    public RedisServerOptions withUser(String name, String... rules) {
        List<String> more = new ArrayList<>(List.of("--user", name));
        more.addAll(Arrays.asList(rules));
        return withArguments(more.toArray(String[]::new));
    }

    /** The same as a replica of the server on that port of 127.0.0.1, which must have the same password. */
    public RedisServerOptions withReplicaOf(int port) {
        return withArguments("--replicaof", "127.0.0.1", Integer.toString(port));
    }

    /** The same with more arguments at the end of its command line. */
    public RedisServerOptions withArguments(String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(more));
        return new RedisServerOptions(keepsData, password, unixSocket, tls, ownClock, all);
    }
}
