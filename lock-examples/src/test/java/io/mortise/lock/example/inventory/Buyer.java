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

/** HTTP client that sends a buyer's requests to one instance of the service. */
record Buyer(HttpClient http, String url) {
    private static final Duration MAX_WAIT = Duration.ofSeconds(30);
    private static final Pattern NUMBER = Pattern.compile("\"(?:unit|left)\":(\\d+)");

    static Buyer at(String url) {
        return new Buyer(HttpClient.newHttpClient(), url);
    }

    /**
     * A response of the service.
     *
     * @param status HTTP status
     * @param number number of the sold unit, or of the units left; -1 if there is none
     * @param retryAfter whether the response asks the buyer to retry
     */
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

    /** Buys a unit, retrying as long as the service asks for it and a time limit is not reached. */
    Answer buyWithRetries(String item) throws IOException, InterruptedException {
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
