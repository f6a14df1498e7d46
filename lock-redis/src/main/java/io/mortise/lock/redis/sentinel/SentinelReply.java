// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Set;

/**
 * A sentinel's reply, which names the master and the other sentinels that it knows.
 *
 * @param runId the id of the sentinel's process, which is the same on all connections to that sentinel
 * @param master the host and port of the master as the sentinel names it
 * @param resolved the addresses of that host
 * @param port the port of the master
 * @param others the host and port of each other sentinel of this master
 */
public record SentinelReply(String runId, String master, Set<InetAddress> resolved, int port, Set<HostAndPort> others) {
    /** The address of a sentinel. */
    record HostAndPort(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /** Returns the address of the master for a new connection. */
    InetSocketAddress address() {
        return new InetSocketAddress(resolved.iterator().next(), port);
    }

    /** Returns whether the sentinel names the server at this address. */
    boolean names(SocketAddress server) {
        return server instanceof InetSocketAddress address
                && address.getPort() == port
                && resolved.contains(address.getAddress());
    }
}
