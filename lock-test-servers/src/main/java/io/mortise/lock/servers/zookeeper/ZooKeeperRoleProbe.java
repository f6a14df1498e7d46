// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Queries the role of a ZooKeeper server, leader or follower, with the {@code srvr} command. */
final class ZooKeeperRoleProbe {
    private static final int TIMEOUT_MILLIS = 1000;
    private static final Pattern MODE = Pattern.compile("(?m)^Mode: (\\S+)");

    private ZooKeeperRoleProbe() {}

    /**
     * Returns {@code "leader"}, {@code "follower"}, {@code "standalone"}, or {@code "none"} while the server does not serve.
     */
    static String mode(int port) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher mode = MODE.matcher(reply);
            return mode.find() ? mode.group(1) : "none";
        } catch (IOException e) {
            return "none";
        }
    }
}
