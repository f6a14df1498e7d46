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

/** Finds out whether a server speaks TLS and the client does not, or the other way round. For one thread. */
public final class TlsMismatchProbe {
    private static final Logger log = LoggerFactory.getLogger(TlsMismatchProbe.class);
    private static final int LIMIT_MILLIS = (int) Duration.ofSeconds(1).toMillis();

    /** The preface of HTTP/2 and an empty SETTINGS frame. A server answers with its own. */
    private static final byte[] HELLO =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);

    private static final int FRAME_HEADER = 9;
    private static final int FRAME_TYPE = 3;
    private static final int SETTINGS = 4;

    private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

    private final List<String> endpoints;
    private final boolean tls;
    private long nextProbe = System.nanoTime();

    /**
     * Does nothing yet.
     *
     * @param endpoints each as {@code host:port}
     * @param tls whether we speak it
     */
    public TlsMismatchProbe(List<String> endpoints, boolean tls) {
        this.endpoints = endpoints;
        this.tls = tls;
    }

    /**
     * Why another try to connect cannot help, or the failure itself if it can. Looks once a second at most, and blocks for up to a
     * few seconds for each endpoint then.
     *
     * @param failure of the last try
     */
    public LockException explained(BackendUnavailableException failure, String all) {
        if (!EtcdErrors.isClosedByServer(failure) || System.nanoTime() - nextProbe < 0) {
            return failure;
        }
        LockException meaning = endpoints.stream()
                .filter(endpoint -> tls ? answersHttp2(endpoint) : hasCertificate(endpoint))
                .findFirst()
                .<LockException>map(endpoint -> new BackendRefusedException(
                        "connect to " + all + ": " + endpoint
                                + (tls ? " does not speak TLS: use etcd://" : " speaks TLS: use etcds://"),
                        failure))
                .orElse(failure);
        nextProbe = System.nanoTime() + PROBE_INTERVAL.toNanos();
        return meaning;
    }

    private static boolean answersHttp2(String endpoint) {
        try (Socket socket = open(endpoint)) {
            socket.getOutputStream().write(HELLO);
            byte[] answer = socket.getInputStream().readNBytes(FRAME_HEADER);
            return answer.length == FRAME_HEADER && answer[FRAME_TYPE] == SETTINGS;
        } catch (IOException e) {
            log.debug("event=no-http2 endpoint={}", endpoint, e);
            return false;
        }
    }

    private static boolean hasCertificate(String endpoint) {
        TrustsNobody seen = new TrustsNobody();
        try (Socket socket = open(endpoint)) {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {seen}, null);
            try (SSLSocket secured =
                    (SSLSocket) context.getSocketFactory().createSocket(socket, host(endpoint), port(endpoint), true)) {
                secured.startHandshake();
            }
        } catch (IOException | GeneralSecurityException e) {
            log.debug("event=no-handshake endpoint={}", endpoint, e);
        }
        return seen.certificate.get();
    }

    private static Socket open(String endpoint) throws IOException {
        Socket socket = new Socket();
        try {
            socket.setSoTimeout(LIMIT_MILLIS);
            socket.connect(new InetSocketAddress(host(endpoint), port(endpoint)), LIMIT_MILLIS);
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

    /** Refuses every certificate, so no connection comes of it, and remembers that there was one. */
    private static final class TrustsNobody implements X509TrustManager {
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
