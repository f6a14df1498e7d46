// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Options for starting a Redis test server: persistence, password, sockets, clock and extra arguments. Immutable.
 *
 * @param keepsData whether the data survives a restart and a kill, in an append-only file that is synced before each reply
 * @param password password of the default user
 * @param unixSocket whether the server also listens on a Unix socket
 * @param tls whether the server also listens on a port with TLS
 * @param ownClock whether the server's clock can be set with {@link RedisTestServer#setClock}
 * @param arguments additional command-line arguments, such as {@code --maxmemory-policy}, {@code allkeys-lru}; they must not
 *     change the log, which is used to detect that the server is ready
 */
public record RedisServerOptions(
        boolean keepsData,
        Optional<String> password,
        boolean unixSocket,
        boolean tls,
        boolean ownClock,
        List<String> arguments) {
    /** Creates options with a copy of the list. */
    public RedisServerOptions {
        arguments = List.copyOf(arguments);
    }

    /** Returns the default options: a restart loses all data, and clients need neither TLS nor a password. */
    public static RedisServerOptions defaults() {
        return new RedisServerOptions(false, Optional.empty(), false, false, false, List.of());
    }

    /** Returns a copy with which the data survives a restart and a kill. */
    public RedisServerOptions withKeptData() {
        return new RedisServerOptions(true, password, unixSocket, tls, ownClock, arguments);
    }

    /** Returns a copy with a password for the default user. */
    public RedisServerOptions withPassword(String value) {
        return new RedisServerOptions(keepsData, Optional.of(value), unixSocket, tls, ownClock, arguments);
    }

    /** Returns a copy with an additional Unix socket. */
    public RedisServerOptions withUnixSocket() {
        return new RedisServerOptions(keepsData, password, true, tls, ownClock, arguments);
    }

    /** Returns a copy with an additional port with TLS. */
    public RedisServerOptions withTls() {
        return new RedisServerOptions(keepsData, password, unixSocket, true, ownClock, arguments);
    }

    /** Returns a copy with a clock that can be set; needs {@link RedisTestServer#canSetClock()}. */
    public RedisServerOptions withOwnClock() {
        return new RedisServerOptions(keepsData, password, unixSocket, tls, true, arguments);
    }

    /**
     * Returns a copy with one more user in the access control list.
     *
     * @param rules rules of {@code ACL SETUSER}, such as {@code on}, {@code >secret}, {@code ~*}, {@code &*}, {@code +@all}
     */
    public RedisServerOptions withUser(String name, String... rules) {
        List<String> more = new ArrayList<>(List.of("--user", name));
        more.addAll(Arrays.asList(rules));
        return withArguments(more.toArray(String[]::new));
    }

    /** Returns a copy for a replica of the server on that port of 127.0.0.1, which must have the same password. */
    public RedisServerOptions withReplicaOf(int port) {
        return withArguments("--replicaof", "127.0.0.1", Integer.toString(port));
    }

    /** Returns a copy with more arguments at the end of the command line. */
    public RedisServerOptions withArguments(String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(more));
        return new RedisServerOptions(keepsData, password, unixSocket, tls, ownClock, all);
    }

    /**
     * Returns whether these options need the program on this machine. A container shares neither its files nor its clock with
     * this machine, and cannot connect to servers on 127.0.0.1, as a replica or a node of a cluster does.
     */
    boolean needsProgram() {
        return unixSocket || ownClock || arguments.contains("--replicaof") || arguments.contains("--cluster-enabled");
    }
}
