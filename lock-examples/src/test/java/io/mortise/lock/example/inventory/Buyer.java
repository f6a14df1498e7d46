// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests to one instance. */
record Buyer(HttpClient http, String url) {
    private static final Duration MAX_WAIT = Duration.ofSeconds(30);
    private static final Pattern NUMBER = Pattern.compile("\"(?:unit|left)\":(\\d+)");

    static Buyer at(String url) {
        return new Buyer(HttpClient.newHttpClient(), url);
    }

    /** An answer; {@code number} is the unit, or how many are left; -1 if it has none. */
    record Answer(int status, int number, boolean retryAfter) {
        static Answer of(HttpResponse<String> response) {
            Matcher number = NUMBER.matcher(response.body());
            return new Answer(
                    response.statusCode(),
                    number.find() ? Integer.parseInt(number.group(1)) : -1,
                    response.headers().firstValue("Retry-After").isPresent());
        }
    }

    Answer buy(String item) throws IOException, InterruptedException {
        return send("POST", "/items/" + item + "/buy");
    }

    /** Comes again for as long as it is told to, within limits. */
    Answer buyInTheEnd(String item) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Answer answer = buy(item);
        while (answer.retryAfter() && System.nanoTime() - start < MAX_WAIT.toNanos()) {
            answer = buy(item);
        }
        return answer;
    }

    CompletableFuture<Answer> buyAsync(String item) {
        return http.sendAsync(request("POST", "/items/" + item + "/buy"), HttpResponse.BodyHandlers.ofString())
                .thenApply(Answer::of);
    }

    Answer stock(String item) throws IOException, InterruptedException {
        return send("GET", "/items/" + item);
    }

    Answer send(String method, String path) throws IOException, InterruptedException {
        return Answer.of(http.send(request(method, path), HttpResponse.BodyHandlers.ofString()));
    }

    private HttpRequest request(String method, String path) {
        return HttpRequest.newBuilder(URI.create(url + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(30))
                .build();
    }
}
