// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.proxy.PortReservation;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds free ports on this machine for servers to listen on. A program that is no server of a test can take a port before the server
 * listens, so callers must be ready to retry.
 */
public final class FreePorts {
    /** Difference between the port of a Redis node and that of its cluster bus. */
    private static final int REDIS_BUS = 10_000;

    private static final int LOWEST = 10_000;
    // No port is another node's bus port, and no bus port is in the range for outgoing connections, which starts at
    // 32768.
    private static final int COUNT = REDIS_BUS;

    private FreePorts() {}

    /**
     * Finds ports that no other server of a test gets while this process runs, so that a server which was killed is neither taken for
     * another one nor kept from its restart. They are below the range that operating systems use for outgoing connections. The port
     * 10,000 above each port, for the bus of a Redis Cluster node, is free as well.
     */
    public static List<Integer> forServers(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> PortReservation.reserve(LOWEST, COUNT, port -> isFree(port) && isFree(port + REDIS_BUS)))
                .map(reserved -> reserved.address().getPort())
                .toList();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
