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

/** Finds out what a port speaks: Redis in plain, or TLS. Blocks for a few seconds at most. */
enum PortProtocolProbe {
    PLAIN,
    TLS,
    /** Nobody is there, or nothing is said. */
    UNKNOWN;

    private static final int MOST_MILLIS = 1_000;
    private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Why this server can never be reached in this way, for people; empty if that is not known. */
    static Optional<String> mismatch(RedisURI server) {
        if (server.getHost() == null || server.getHost().isEmpty()) {
            return Optional.empty(); // a socket of this machine
        }
        String at = server.getHost() + ":" + server.getPort();
        PortProtocolProbe spoken = of(server.getHost(), server.getPort());
        if (server.isSsl() && spoken == PLAIN) {
            return Optional.of(
                    "connect: " + at
                            + " does not speak TLS, it answers in plain: name its TLS port, or connect without TLS (redis, not rediss)");
        }
        if (!server.isSsl() && spoken == TLS) {
            return Optional.of(
                    "connect: " + at + " speaks TLS: name its plain port, or connect with TLS (rediss, not redis)");
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

    /** -1 if it hung up: a reset is how a server takes leave that was not understood. */
    private static int firstByte(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read();
        } catch (SocketException e) {
            return -1;
        }
    }

    /** A certificate that is not trusted, or one that is missing, is told by who speaks TLS. */
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
