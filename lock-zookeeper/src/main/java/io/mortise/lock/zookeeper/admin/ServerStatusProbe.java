// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;

/**
 * Asks one server for its status by the four letter word {@code srvr}, over a connection of its own. No request of a session
 * returns which server answers, its version, or why there is no session.
 */
public record ServerStatusProbe(String host, int port, ZKClientConfig config, int timeoutMillis) {
    private static final Duration MAX_TIMEOUT = Duration.ofSeconds(3);
    private static final byte[] SRVR = "srvr".getBytes(StandardCharsets.US_ASCII);

    /** The answer of a server, or why there is none. */
    record Answer(String text, Optional<Exception> failure) {}

    /**
     * Returns a probe for each server of the client; none for a borrowed handle, which does not tell its servers.
     *
     * @param requestTimeout the limit for each step of a probe, or three seconds if that is shorter
     */
    public static List<ServerStatusProbe> of(ZooKeeperSettings settings, Duration requestTimeout) {
        int timeoutMillis = (int) Math.min(requestTimeout.toMillis(), MAX_TIMEOUT.toMillis());
        return settings.servers().stream()
                .map(server -> new ServerStatusProbe(
                        server.getHostString(), server.getPort(), settings.clientConfigOrDefault(), timeoutMillis))
                .toList();
    }

    String endpoint() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Returns whether the client uses TLS. */
    boolean secure() {
        return ZooKeeperSettings.usesTls(config);
    }

    /** Asks with or without TLS, as the client connects. Blocks for some timeouts at most. */
    Answer ask() {
        return ask(secure());
    }

    /** Asks with or without TLS. Blocks for some timeouts at most. */
    Answer ask(boolean tls) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(timeoutMillis);
            socket.connect(new InetSocketAddress(host, port), timeoutMillis);
            if (!tls) {
                socket.getOutputStream().write(SRVR);
                socket.shutdownOutput(); // a server that expects TLS waits for more than four bytes
                return new Answer(readAll(socket), Optional.empty());
            }
            try (Socket secured = secured(socket)) {
                secured.getOutputStream().write(SRVR);
                return new Answer(readAll(secured), Optional.empty());
            }
        } catch (IOException | SSLContextException e) {
            return new Answer("", Optional.of(e));
        }
    }

    private static String readAll(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private Socket secured(Socket socket) throws IOException, SSLContextException {
        SSLSocket secured = (SSLSocket) context().getSocketFactory().createSocket(socket, host, port, true);
        secured.startHandshake();
        return secured;
    }

    private SSLContext context() throws SSLContextException {
        if (!secure()) {
            return defaultContext();
        }
        try (ClientX509Util util = new ClientX509Util()) {
            return util.createSSLContext(config);
        }
    }

    /** Returns a context that is good enough to see whether a server speaks TLS. */
    private static SSLContext defaultContext() throws SSLContextException {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException e) {
            throw new SSLContextException(e);
        }
    }
}
