// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Detects when a client uses TLS and the server does not, or the reverse. Not thread-safe. */
public final class TlsMismatchProbe {
    private static final Logger log = LoggerFactory.getLogger(TlsMismatchProbe.class);
    private static final int TIMEOUT_MILLIS = (int) Duration.ofSeconds(1).toMillis();

    /** The preface of HTTP/2 and an empty SETTINGS frame. A server replies with its own SETTINGS frame. */
    private static final byte[] HTTP2_PREFACE =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);

    private static final int FRAME_HEADER = 9;
    private static final int FRAME_TYPE = 3;
    private static final int SETTINGS = 4;

    private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

    private final List<String> endpoints;
    private final boolean tls;
    private long nextProbe = System.nanoTime();

    /**
     * Creates a probe; connects to nothing yet.
     *
     * @param endpoints the servers, each as {@code host:port}
     * @param tls whether the client uses TLS
     */
    public TlsMismatchProbe(List<String> endpoints, boolean tls) {
        this.endpoints = endpoints;
        this.tls = tls;
    }

    /**
     * Returns a refusal if another attempt to connect cannot help, otherwise the given failure. Probes at most once a
     * second, and then blocks for up to a few seconds for each endpoint.
     *
     * @param failure the failure of the last attempt
     * @param all all endpoints, for the message
     */
    public LockException explain(BackendUnavailableException failure, String all) {
        if (!EtcdErrors.isClosedByServer(failure) || System.nanoTime() - nextProbe < 0) {
            return failure;
        }
        LockException explanation = endpoints.stream()
                .filter(endpoint -> tls ? speaksPlainHttp2(endpoint) : hasCertificate(endpoint))
                .findFirst()
                .<LockException>map(endpoint -> new BackendRefusedException(
                        "connect to " + all + ": " + endpoint
                                + (tls ? " does not speak TLS: use etcd://" : " speaks TLS: use etcds://"),
                        failure))
                .orElse(failure);
        nextProbe = System.nanoTime() + PROBE_INTERVAL.toNanos();
        return explanation;
    }

    private static boolean speaksPlainHttp2(String endpoint) {
        try (Socket socket = open(endpoint)) {
            socket.getOutputStream().write(HTTP2_PREFACE);
            byte[] reply = socket.getInputStream().readNBytes(FRAME_HEADER);
            return reply.length == FRAME_HEADER && reply[FRAME_TYPE] == SETTINGS;
        } catch (IOException e) {
            log.debug("event=no-http2 endpoint={}", endpoint, e);
            return false;
        }
    }

    private static boolean hasCertificate(String endpoint) {
        RejectingTrustManager trustManager = new RejectingTrustManager();
        try (Socket socket = open(endpoint)) {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {trustManager}, null);
            try (SSLSocket secured =
                    (SSLSocket) context.getSocketFactory().createSocket(socket, host(endpoint), port(endpoint), true)) {
                secured.startHandshake();
            }
        } catch (IOException | GeneralSecurityException e) {
            log.debug("event=no-handshake endpoint={}", endpoint, e);
        }
        return trustManager.certificate.get();
    }

    private static Socket open(String endpoint) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.connect(new InetSocketAddress(host(endpoint), port(endpoint)), TIMEOUT_MILLIS);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static String host(String endpoint) {
        return endpoint.substring(0, endpoint.lastIndexOf(':')).replace("[", "").replace("]", "");
    }

    private static int port(String endpoint) {
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    /** Rejects every certificate, so that no connection results, and records that there was one. */
    private static final class RejectingTrustManager implements X509TrustManager {
        private final AtomicBoolean certificate = new AtomicBoolean();

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            certificate.set(true);
            throw new CertificateException("this connection only finds out whether the server speaks TLS");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            throw new CertificateException("no client is trusted");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
