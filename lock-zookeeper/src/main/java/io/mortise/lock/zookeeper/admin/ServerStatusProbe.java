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
 * Queries the status of one server with the four letter word {@code srvr}, over a separate connection.
 *
 * <p>A separate connection is needed because no request of a session returns the server's version, which server replies, or why
 * there is no session.
 */
public record ServerStatusProbe(String host, int port, ZKClientConfig config, int timeoutMillis) {
    private static final Duration MAX_TIMEOUT = Duration.ofSeconds(3);
    private static final byte[] SRVR = "srvr".getBytes(StandardCharsets.US_ASCII);

    /**
     * A server's response to {@code srvr}.
     *
     * @param text the response, empty after a failure
     * @param failure the reason why there is no response
     */
    record Response(String text, Optional<Exception> failure) {}

    /**
     * Returns a probe for each server of the client; none for an application-supplied handle, which does not reveal its
     * servers.
     *
     * @param requestTimeout the time limit for each step of a probe; at most three seconds are used
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
    boolean usesTls() {
        return ZooKeeperSettings.usesTls(config);
    }

    /** Queries the server, with TLS if the client uses TLS. Blocks for a few timeouts at most. */
    Response query() {
        return query(usesTls());
    }

    /** Queries the server with or without TLS. Blocks for a few timeouts at most. */
    Response query(boolean tls) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(timeoutMillis);
            socket.connect(new InetSocketAddress(host, port), timeoutMillis);
            if (!tls) {
                socket.getOutputStream().write(SRVR);
                socket.shutdownOutput(); // a server that expects TLS waits for more than four bytes
                return new Response(readAll(socket), Optional.empty());
            }
            try (Socket secured = openTls(socket)) {
                secured.getOutputStream().write(SRVR);
                return new Response(readAll(secured), Optional.empty());
            }
        } catch (IOException | SSLContextException e) {
            return new Response("", Optional.of(e));
        }
    }

    private static String readAll(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private Socket openTls(Socket socket) throws IOException, SSLContextException {
        SSLSocket secured = (SSLSocket) context().getSocketFactory().createSocket(socket, host, port, true);
        secured.startHandshake();
        return secured;
    }

    private SSLContext context() throws SSLContextException {
        if (!usesTls()) {
            return defaultContext();
        }
        try (ClientX509Util util = new ClientX509Util()) {
            return util.createSSLContext(config);
        }
    }

    /** Returns a TLS context that suffices to find out whether a server speaks TLS. */
    private static SSLContext defaultContext() throws SSLContextException {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException e) {
            throw new SSLContextException(e);
        }
    }
}
