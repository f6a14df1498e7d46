// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

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
 * Why the first session does not come about. ZooKeeper's client tries for ever and tells nobody why it fails, so each server is
 * asked for itself. One that may be about to start is waited for; that no server will ever take this client as it is ends the
 * wait. Thread-safe.
 */
final class NoSession {
    private static final Duration FIRST = Duration.ofMillis(500); // by then there is a session, if all is well
    private static final Duration AGAIN = Duration.ofSeconds(1);

    /** What keeps one server from giving a session. */
    record Obstacle(String text, boolean forGood) {}

    private final String endpoints;
    private final List<ServerWord> servers;
    private final BackendContext context;
    private final CompletableFuture<?> session;
    private final Map<String, Obstacle> obstacles = new ConcurrentSkipListMap<>();

    private NoSession(
            String endpoints, List<ServerWord> servers, BackendContext context, CompletableFuture<?> session) {
        this.endpoints = endpoints;
        this.servers = servers;
        this.context = context;
        this.session = session;
    }

    /**
     * Asks until that is done, which it is with a {@link BackendRefusedException} once waiting is in vain.
     *
     * @param servers none on a handle of the application's
     */
    static NoSession ask(
            String endpoints, List<ServerWord> servers, BackendContext context, CompletableFuture<?> session) {
        NoSession asking = new NoSession(endpoints, servers, context, session);
        servers.forEach(server -> asking.askAfter(FIRST, server));
        return asking;
    }

    private void askAfter(Duration pause, ServerWord server) {
        context.clock().schedule(pause, () -> {
            if (!session.isDone()) {
                context.blocking().execute(() -> ask(server));
            }
        });
    }

    private void ask(ServerWord server) {
        obstacles.put(server.endpoint(), obstacle(server));
        boolean forGood = obstacles.values().stream().allMatch(Obstacle::forGood);
        if (forGood && obstacles.size() == servers.size()) {
            session.completeExceptionally(new BackendRefusedException("no session with " + endpoints + ": " + why()));
        }
        askAfter(AGAIN, server);
    }

    /** For when the connect timeout is over. */
    String inVain() {
        String why = obstacles.isEmpty() ? "no answer" : why();
        return "no session with " + endpoints + " in "
                + context.connectTimeout().toMillis() + " ms: " + why;
    }

    private String why() {
        return obstacles.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue().text)
                .collect(Collectors.joining("; "));
    }

    /** Blocks for some timeouts at most. */
    static Obstacle obstacle(ServerWord server) {
        ServerWord.Said said = server.ask();
        if (said.text().contains("not currently serving")) {
            return new Obstacle("runs, and serves nobody: it has no majority", false);
        }
        if (!said.text().isBlank()) {
            return new Obstacle("answers, and has not made a session yet", false);
        }
        Exception failure = said.failure().orElseGet(() -> new EOFException("it closed the connection"));
        if (failure instanceof ConnectException) {
            return new Obstacle("refuses connections", false);
        }
        if (failure instanceof UnknownHostException) {
            return new Obstacle("is not known to the name service", false);
        }
        if (failure instanceof SSLContextException) {
            return new Obstacle("is to be called with TLS, which cannot be set up: " + innermost(failure), true);
        }
        return server.secure() ? obstacleToTls(server, failure) : obstacleToPlain(server, failure);
    }

    private static Obstacle obstacleToTls(ServerWord server, Throwable failure) {
        if (!server.ask(false).text().isBlank()) {
            return new Obstacle(
                    "does not speak TLS on this port, and this client does (zookeeper.client.secure)", true);
        }
        return new Obstacle("fails in TLS: " + failure.getMessage(), isAnswerInTls(failure));
    }

    private static Obstacle obstacleToPlain(ServerWord server, Throwable failure) {
        ServerWord.Said said = server.ask(true);
        if (said.failure().isEmpty() || isAnswerInTls(said.failure().get())) {
            return new Obstacle(
                    "speaks TLS on this port, and this client does not: it needs zookeeper.client.secure=true", true);
        }
        String text = failure instanceof SocketTimeoutException ? "does not answer" : "fails: " + failure.getMessage();
        return new Obstacle(text, false);
    }

    /** A line that breaks while TLS is set up says nothing. */
    private static boolean isAnswerInTls(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            boolean alert = cause instanceof SSLException
                    && String.valueOf(cause.getMessage()).contains("fatal alert");
            if (alert || cause instanceof CertificateException) {
                return true;
            }
        }
        return false;
    }

    private static String innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }
}
