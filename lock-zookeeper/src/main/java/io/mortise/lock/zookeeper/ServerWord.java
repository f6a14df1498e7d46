// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;

/**
 * One server that the client names, asked for itself by a word of four letters: no request of a session tells which server it
 * is, nor its version, nor why there is no session.
 */
record ServerWord(String host, int port, ZKClientConfig config, int timeoutMillis) {
    private static final byte[] WORD = "srvr".getBytes(StandardCharsets.US_ASCII);

    /** What it said, or what went wrong. */
    record Said(String text, Optional<Exception> failure) {}

    /** None if the client has a handle of the application's: it does not tell its servers. */
    static List<ServerWord> of(ZooKeeperOptions options, int timeoutMillis) {
        return options.connectString()
                .map(named -> new ConnectStringParser(named)
                        .getServerAddresses().stream()
                                .map(server -> new ServerWord(
                                        server.getHostString(),
                                        server.getPort(),
                                        options.clientConfig().orElseGet(ZKClientConfig::new),
                                        timeoutMillis))
                                .toList())
                .orElse(List.of());
    }

    String endpoint() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Whether the client uses TLS. */
    boolean secure() {
        return ZooKeeperOptions.usesTls(config);
    }

    /** As the client would. Blocks for some timeouts at most. */
    Said ask() {
        return ask(secure());
    }

    /** Blocks for some timeouts at most. */
    Said ask(boolean tls) {
        try (Socket line = new Socket()) {
            line.setSoTimeout(timeoutMillis);
            line.connect(new InetSocketAddress(host, port), timeoutMillis);
            if (!tls) {
                line.getOutputStream().write(WORD);
                line.shutdownOutput(); // a server that expects TLS waits for more than four bytes
                return new Said(rest(line), Optional.empty());
            }
            try (Socket secured = secured(line)) {
                secured.getOutputStream().write(WORD);
                return new Said(rest(secured), Optional.empty());
            }
        } catch (IOException | SSLContextException e) {
            return new Said("", Optional.of(e));
        }
    }

    private static String rest(Socket line) throws IOException {
        return new String(line.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private Socket secured(Socket line) throws IOException, SSLContextException {
        SSLSocket secured = (SSLSocket) context().getSocketFactory().createSocket(line, host, port, true);
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

    /** Good enough to see whether a server speaks TLS. */
    private static SSLContext defaultContext() throws SSLContextException {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException e) {
            throw new SSLContextException(e);
        }
    }
}
