// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.connect;

import io.lettuce.core.RedisURI;
import io.mortise.lock.redis.client.RedisErrors;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** Determines whether a port speaks plaintext Redis or TLS. Blocks for a few seconds at most. */
enum PortProtocolProbe {
    PLAIN,
    TLS,
    /** No server listens there, or the server does not respond. */
    UNKNOWN;

    private static final int MOST_MILLIS = 1_000;
    private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Returns a message if this server can never be reached, because only one side uses TLS; empty if that is not known. */
    static Optional<String> mismatch(RedisURI server) {
        if (server.getHost() == null || server.getHost().isEmpty()) {
            return Optional.empty(); // a Unix socket
        }
        String at = server.getHost() + ":" + server.getPort();
        PortProtocolProbe found = of(server.getHost(), server.getPort());
        if (server.isSsl() && found == PLAIN) {
            return Optional.of(
                    "connect: " + at
                            + " does not speak TLS but plaintext: name its TLS port, or connect without TLS (redis, not rediss)");
        }
        if (!server.isSsl() && found == TLS) {
            return Optional.of(
                    "connect: " + at + " speaks TLS: name its plaintext port, or connect with TLS (rediss, not redis)");
        }
        return Optional.empty();
    }

    static PortProtocolProbe of(String host, int port) {
        try (Socket socket = connect(host, port)) {
            socket.getOutputStream().write(PING);
            int first = firstByte(socket);
            return first == '+' || first == '-' ? PLAIN : shakesHands(host, port) ? TLS : UNKNOWN;
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    private static Socket connect(String host, int port) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setSoTimeout(MOST_MILLIS);
            socket.connect(new InetSocketAddress(host, port), MOST_MILLIS);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Returns -1 if the server closed the connection. A server may reset it after a request that it did not understand. */
    private static int firstByte(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read();
        } catch (SocketException e) {
            return -1;
        }
    }

    /** Returns whether the server speaks TLS, as it also does if it rejects the handshake or its certificate is not trusted. */
    private static boolean shakesHands(String host, int port) throws IOException {
        try (Socket plain = connect(host, port);
                SSLSocket tls = (SSLSocket)
                        ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(plain, host, port, false)) {
            tls.startHandshake();
            return true;
        } catch (SSLException e) {
            return RedisErrors.find(e, CertificateException.class) != null
                    || String.valueOf(e.getMessage()).contains("alert");
        }
    }
}
