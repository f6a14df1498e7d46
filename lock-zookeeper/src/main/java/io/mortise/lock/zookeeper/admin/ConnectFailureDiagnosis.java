// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.spi.BackendContext;
import java.io.EOFException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.apache.zookeeper.common.X509Exception.SSLContextException;

/**
 * Finds out why a client cannot open its first session, by querying the status of each server. Thread-safe.
 *
 * <p>ZooKeeper's client retries without end and does not report why it fails. The diagnosis lets the client wait for a server
 * that may be about to start, and ends the wait early if no server will ever accept this client as it is configured.
 */
public final class ConnectFailureDiagnosis {
    private static final Duration FIRST_PROBE_AFTER = Duration.ofMillis(500); // usually the session is ready by then
    private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

    /**
     * The reason why one server has not given the client a session.
     *
     * @param text completes a sentence that starts with the server's address
     * @param permanent whether waiting cannot remove the obstacle
     */
    record Obstacle(String text, boolean permanent) {}

    private final String endpoints;
    private final List<ServerStatusProbe> servers;
    private final BackendContext context;
    private final CompletableFuture<?> session;
    private final Map<String, Obstacle> obstacles = new ConcurrentSkipListMap<>();

    private ConnectFailureDiagnosis(
            String endpoints, List<ServerStatusProbe> servers, BackendContext context, CompletableFuture<?> session) {
        this.endpoints = endpoints;
        this.servers = servers;
        this.context = context;
        this.session = session;
    }

    /**
     * Starts to probe the servers, until the session is ready. Completes the session's future with {@link
     * BackendRefusedException} once waiting cannot help any more.
     *
     * @param servers the probes, one for each server; none for an application-supplied handle
     * @param session completes when the client has a session
     */
    public static ConnectFailureDiagnosis start(
            String endpoints, List<ServerStatusProbe> servers, BackendContext context, CompletableFuture<?> session) {
        ConnectFailureDiagnosis diagnosis = new ConnectFailureDiagnosis(endpoints, servers, context, session);
        servers.forEach(server -> diagnosis.probeAfter(FIRST_PROBE_AFTER, server));
        return diagnosis;
    }

    private void probeAfter(Duration pause, ServerStatusProbe server) {
        context.clock().schedule(pause, () -> {
            if (!session.isDone()) {
                context.blocking().execute(() -> probe(server));
            }
        });
    }

    private void probe(ServerStatusProbe server) {
        obstacles.put(server.endpoint(), obstacle(server));
        boolean permanent = obstacles.values().stream().allMatch(Obstacle::permanent);
        if (permanent && obstacles.size() == servers.size()) {
            session.completeExceptionally(
                    new BackendRefusedException("no session with " + endpoints + ": " + reasons()));
        }
        probeAfter(PROBE_INTERVAL, server);
    }

    /** Returns the error message for a client that still has no session when the connect timeout has passed. */
    public String timeoutMessage() {
        String reason = obstacles.isEmpty() ? "no answer" : reasons();
        return "no session with " + endpoints + " in "
                + context.connectTimeout().toMillis() + " ms: " + reason;
    }

    private String reasons() {
        return obstacles.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue().text)
                .collect(Collectors.joining("; "));
    }

    /** Probes one server. Blocks for a few probe timeouts at most. */
    static Obstacle obstacle(ServerStatusProbe server) {
        ServerStatusProbe.Response response = server.query();
        if (response.text().contains("not currently serving")) {
            return new Obstacle("is running but serves no clients: it has no majority", false);
        }
        if (!response.text().isBlank()) {
            return new Obstacle("answers, but has not created a session yet", false);
        }
        Exception failure = response.failure().orElseGet(() -> new EOFException("it closed the connection"));
        if (failure instanceof ConnectException) {
            return new Obstacle("refuses connections", false);
        }
        if (failure instanceof UnknownHostException) {
            return new Obstacle("has a host name that cannot be resolved", false);
        }
        if (failure instanceof SSLContextException) {
            return new Obstacle("cannot be reached: TLS could not be set up: " + rootCauseMessage(failure), true);
        }
        return server.usesTls() ? obstacleToTls(server, failure) : obstacleToPlain(server, failure);
    }

    private static Obstacle obstacleToTls(ServerStatusProbe server, Throwable failure) {
        if (!server.query(false).text().isBlank()) {
            return new Obstacle(
                    "does not speak TLS on this port, but this client does (zookeeper.client.secure)", true);
        }
        return new Obstacle("fails the TLS handshake: " + failure.getMessage(), isTlsResponse(failure));
    }

    private static Obstacle obstacleToPlain(ServerStatusProbe server, Throwable failure) {
        ServerStatusProbe.Response response = server.query(true);
        if (response.failure().isEmpty() || isTlsResponse(response.failure().get())) {
            return new Obstacle(
                    "speaks TLS on this port, but this client does not: set zookeeper.client.secure=true", true);
        }
        String text = failure instanceof SocketTimeoutException ? "does not answer" : "fails: " + failure.getMessage();
        return new Obstacle(text, false);
    }

    /**
     * Returns whether the failure shows that the server replied in TLS. A connection lost during the handshake proves nothing.
     */
    private static boolean isTlsResponse(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            boolean alert = cause instanceof SSLException
                    && String.valueOf(cause.getMessage()).contains("fatal alert");
            if (alert || cause instanceof CertificateException) {
                return true;
            }
        }
        return false;
    }

    private static String rootCauseMessage(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }
}
