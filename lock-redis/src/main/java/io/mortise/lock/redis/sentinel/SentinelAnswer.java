// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Set;

/**
 * One sentinel's answer: the address of the master, and the other sentinels that it knows.
 *
 * @param runId of its process: two connections to one sentinel have the same
 * @param master host and port of the master as the sentinel names it
 * @param resolved addresses of that host
 * @param port of the master
 * @param others host and port of each other sentinel of this master
 */
public record SentinelAnswer(
        String runId, String master, Set<InetAddress> resolved, int port, Set<HostAndPort> others) {
    /** Address of a sentinel. */
    record HostAndPort(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /** Returns where a connection to the master leads to. */
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
