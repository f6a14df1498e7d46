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

/** Requests of one user to the JSON gateway of one etcd node. Thread-safe. */
final class EtcdGateway {
    private static final int OK = 200;
    private static final int UNKNOWN = 2;
    private static final int FAILED_PRECONDITION = 9;
    private static final int UNAUTHENTICATED = 16;

    /** Whose requests they are. */
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

    /** The same with another timeout. */
    EtcdGateway within(Duration other) {
        return new EtcdGateway(port, login, other, token);
    }

    /** As {@link RawEtcd#call}. */
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
            authenticate(login.get()); // a restart made all tokens void
            return post(method, request);
        }
    }

    /** Everything that the node has counted, in the format of Prometheus. */
    String metrics() {
        return send(request("metrics").GET().build()).body();
    }

    private void authenticate(Login who) {
        token.set(null);
        try {
            Map<String, ?> reply = post("auth/authenticate", Map.of("name", who.user(), "password", who.password()));
            token.set(String.valueOf(reply.get("token")));
        } catch (RawEtcd.ErrorReply e) {
            if (e.code() != FAILED_PRECONDITION) {
                throw e;
            }
            // It does not ask for users yet.
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

    /** Not with the client's own timeout alone, which ends with the headers. */
    private HttpResponse<String> send(HttpRequest request) {
        CompletableFuture<HttpResponse<String>> reply =
                Shared.CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            return reply.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new UncheckedIOException(new IOException("No answer of port " + port + " within " + timeout, e));
        } catch (ExecutionException e) {
            throw new UncheckedIOException(new IOException("No answer of port " + port, e.getCause()));
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
            // Of a stream, whose messages are one a line, the first.
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
            @SuppressWarnings("unchecked") // JSON's names are strings
            Map<String, ?> result = (Map<String, ?>) streamed;
            return result;
        }
        return json;
    }

    /** One for all, as each has a thread of its own and cannot be closed before JDK 21. */
    private static final class Shared {
        static final HttpClient CLIENT =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }
}
