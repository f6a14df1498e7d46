// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the shop over HTTP, with {@code GET /items/NAME} and {@code POST /items/NAME/buy}. */
final class ShopServer implements HttpHandler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ShopServer.class);
    private static final int THREADS = 16;

    private final Shop shop;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    private ShopServer(Shop shop, HttpServer server) {
        this.shop = shop;
        this.server = server;
    }

    /** Starts a server on a port of the loopback address; 0 for any free port. */
    static ShopServer start(Shop shop, int port) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        ShopServer shopServer = new ShopServer(shop, server);
        server.createContext("/items/", shopServer);
        server.setExecutor(shopServer.threads);
        server.start();
        return shopServer;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void handle(HttpExchange exchange) {
        respond(exchange.getRequestMethod(), exchange.getRequestURI().getPath())
                .exceptionally(ShopServer::failureResponse)
                .thenAccept(response -> send(exchange, response));
    }

    private static void send(HttpExchange exchange, Answer response) {
        try (exchange) {
            byte[] body = (response.json() + "\n").getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            if (response.retry()) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            exchange.sendResponseHeaders(response.status(), body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException e) {
            log.info("event=buyer-gone error={}", e.getMessage());
        }
    }

    /** An HTTP response; {@code retry} if the same request may succeed a little later. */
    private record Answer(int status, String json, boolean retry) {
        static Answer of(int status, String text) {
            return new Answer(status, "{\"error\":\"" + text + "\"}", status == 429 || status == 503);
        }
    }

    private CompletableFuture<Answer> respond(String method, String path) {
        String[] parts = path.split("/", -1); // "", "items", NAME, "buy"
        try {
            if (parts.length == 3 && method.equals("GET")) {
                return CompletableFuture.completedFuture(stockResponse(parts[2]));
            }
            if (parts.length == 4 && parts[3].equals("buy") && method.equals("POST")) {
                return shop.buy(parts[2], threads).thenApply(sale -> saleResponse(parts[2], sale));
            }
            return CompletableFuture.completedFuture(
                    Answer.of(404, "not found; use GET /items/NAME or POST /items/NAME/buy"));
        } catch (IOException | LockException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static Answer failureResponse(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof BackendUnavailableException) {
            log.warn("event=store-unavailable error={}", cause.getMessage());
            return Answer.of(503, "the lock store does not reply; nothing was sold");
        }
        if (cause instanceof StaleTokenException) {
            log.warn("event=late-write-refused error={}", cause.getMessage());
            return Answer.of(503, "the lock was lost during the sale; nothing was sold");
        }
        if (cause instanceof InterruptedException || cause instanceof RejectedExecutionException) {
            return Answer.of(503, "the shop is closing; nothing was sold");
        }
        log.error("event=sale-failed", cause);
        return Answer.of(500, "the sale failed; see the log");
    }

    private Answer stockResponse(String item) throws IOException {
        OptionalInt left = shop.left(item);
        return left.isPresent()
                ? new Answer(200, "{\"item\":\"" + item + "\",\"left\":" + left.getAsInt() + "}", false)
                : Answer.of(404, "no such item");
    }

    private static Answer saleResponse(String item, SaleOutcome sale) {
        if (sale instanceof SaleOutcome.Sold sold) {
            return new Answer(200, "{\"item\":\"" + item + "\",\"unit\":" + sold.unit() + "}", false);
        } else if (sale instanceof SaleOutcome.SoldOut) {
            return Answer.of(409, "sold out");
        } else if (sale instanceof SaleOutcome.Unknown) {
            return Answer.of(404, "no such item");
        }
        return Answer.of(429, "too many buyers");
    }

    /** Stops the server after the sales that have begun. */
    @Override
    public void close() {
        server.stop(1);
        threads.shutdown();
    }
}
