// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds free ports on this machine for servers to listen on. Another process can take a port before the server listens, so
 * callers must be ready to retry.
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
     * Finds ports below the range that operating systems use for outgoing connections, so that a restarted server finds its
     * port still free. The port 10,000 above each port, for the bus of a Redis Cluster node, is free as well.
     */
    public static List<Integer> forServers(int count) {
        Set<Integer> ports = new LinkedHashSet<>();
        while (ports.size() < count) {
            int port = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
            if (isFree(port) && isFree(port + REDIS_BUS)) {
                ports.add(port);
            }
        }
        return List.copyOf(ports);
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** Finds ports that are free at the moment, from the range that the operating system assigns. */
    public static List<Integer> find(int count) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            // All sockets stay open until the end, so that the ports differ.
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            for (ServerSocket socket : sockets) {
                try {
                    socket.close();
                } catch (IOException e) {
                    // The socket has no connections, so nothing is lost.
                }
            }
        }
    }
}
