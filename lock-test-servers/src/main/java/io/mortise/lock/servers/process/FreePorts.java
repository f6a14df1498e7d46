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

/** Reserves ports for servers. Another process can take one in between: retry. */
public final class FreePorts {
    /** From a Redis node's port to that of its cluster bus. */
    private static final int REDIS_BUS = 10_000;

    private static final int LOWEST = 10_000;
    // So none is another's bus, and no bus is in the range for outgoing connections, which starts at 32768 or above.
    private static final int COUNT = REDIS_BUS;

    private FreePorts() {}

    /**
     * Ports that are no client's by chance: below those that systems give to outgoing connections. So a server that is down
     * for a while finds its port free when it comes back. The port 10,000 above each is free as well.
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

    public static List<Integer> find(int count) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            // All open at once, so that they differ.
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
                    // Only a reservation that nobody connected to.
                }
            }
        }
    }
}
