// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** Sends requests to an etcd node's JSON gateway as one user, or without authentication. Thread-safe. */
final class EtcdGateway {
    private static final int OK = 200;
    private static final int UNKNOWN = 2;
    private static final int FAILED_PRECONDITION = 9;
    private static final int UNAUTHENTICATED = 16;

    /** The user that the requests are sent for. */
    record Login(String user, String password) {}

    private final int port;
    private final Optional<Login> login;
    private final Duration timeout;
    private final AtomicReference<@Nullable String> token;

    EtcdGateway(int port, Optional<Login> login, Duration timeout) {
        this(port, login, timeout, new AtomicReference<>());
    }

    private EtcdGateway(int port, Optional<Login> login, Duration timeout, AtomicReference<@Nullable String> token) {
        this.port = port;
        this.login = login;
        this.timeout = timeout;
        this.token = token;
    }

    /** Returns a gateway with another timeout and the same login. */
    EtcdGateway withTimeout(Duration other) {
        return new EtcdGateway(port, login, other, token);
    }

    /** Does the same as {@link RawEtcd#call}. */
    Map<String, ?> call(String method, Map<String, ?> request) {
        if (login.isPresent() && token.get() == null) {
            authenticate(login.get());
        }
        try {
            return post(method, request);
        } catch (RawEtcd.ErrorReply e) {
            if (login.isEmpty() || e.code() != UNAUTHENTICATED) {
                throw e;
            }
            authenticate(login.get()); // a restart invalidates all tokens
            return post(method, request);
        }
    }

    /** Returns all of the node's counters, in the Prometheus format. */
    String metrics() {
        return send(request("metrics").GET().build()).body();
    }

    private void authenticate(Login as) {
        token.set(null);
        try {
            Map<String, ?> reply = post("auth/authenticate", Map.of("name", as.user(), "password", as.password()));
            token.set(String.valueOf(reply.get("token")));
        } catch (RawEtcd.ErrorReply e) {
            if (e.code() != FAILED_PRECONDITION) {
                throw e;
            }
            // The node has not enabled authentication yet.
        }
    }

    private Map<String, ?> post(String method, Map<String, ?> message) {
        HttpRequest.Builder request = request("v3/" + method);
        String known = token.get();
        if (known != null) {
            request.header("Authorization", known);
        }
        String body = JSON.std.asString(message);
        HttpResponse<String> response =
                send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build());
        return message(response);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path));
    }

    /** Sends a request and enforces the timeout itself, since the HTTP client's timeout covers only the headers. */
    private HttpResponse<String> send(HttpRequest request) {
        CompletableFuture<HttpResponse<String>> reply =
                Shared.CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            return reply.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new UncheckedIOException(new IOException("No reply from port " + port + " within " + timeout, e));
        } catch (ExecutionException e) {
            throw new UncheckedIOException(new IOException("No reply from port " + port, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for etcd", e);
        } finally {
            reply.cancel(true);
        }
    }

    private static Map<String, ?> message(HttpResponse<String> response) {
        String body = response.body();
        Map<String, Object> json;
        try {
            // A stream has one message per line; only the first one is needed.
            json = JSON.std.mapFrom(body.lines().findFirst().orElse("{}"));
        } catch (JacksonException e) {
            throw new RawEtcd.ErrorReply(UNKNOWN, "HTTP " + response.statusCode() + ": " + body);
        }
        Map<?, ?> error = json.get("error") instanceof Map<?, ?> ofStream ? ofStream : json;
        if (response.statusCode() != OK || json.containsKey("error")) {
            String code = error.containsKey("grpc_code") ? "grpc_code" : "code";
            throw new RawEtcd.ErrorReply((int) EtcdJson.number(error, code), String.valueOf(error.get("message")));
        }
        if (json.get("result") instanceof Map<?, ?> streamed) {
            @SuppressWarnings("unchecked") // the names in a JSON object are strings
            Map<String, ?> result = (Map<String, ?>) streamed;
            return result;
        }
        return json;
    }

    /** Holds one HTTP client for all gateways, as each client has a thread of its own and cannot be closed before JDK 21. */
    private static final class Shared {
        static final HttpClient CLIENT =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }
}
