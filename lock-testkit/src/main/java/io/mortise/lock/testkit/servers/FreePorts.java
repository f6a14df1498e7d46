// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Ports for servers that must know them before they start. Another process can take one in between: retry. */
final class FreePorts {
    private FreePorts() {}

    static List<Integer> find(int count) {
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
