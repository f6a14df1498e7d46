// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.archive;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Answers a client as a Redis without any lock does. */
final class RedisStandIn implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

    RedisStandIn() throws IOException {
        Thread thread = new Thread(this::serve, "redis-stand-in");
        thread.setDaemon(true);
        thread.start();
    }

    String url() {
        return "redis://127.0.0.1:" + server.getLocalPort();
    }

    private void serve() {
        while (!server.isClosed()) {
            try (Socket client = server.accept();
                    BufferedReader in = new BufferedReader(
                            new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
                for (String first = in.readLine(); first != null; first = in.readLine()) {
                    List<String> words = new ArrayList<>();
                    for (int left = Integer.parseInt(first.substring(1)); left > 0; left--) {
                        in.readLine(); // its length: no word has the end of a line in it
                        words.add(in.readLine());
                    }
                    client.getOutputStream().write(answer(words).getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                // That client has gone, or all is over.
            }
        }
    }

    private static String answer(List<String> words) {
        return switch (words.get(0).toUpperCase(Locale.ROOT)) {
            case "HELLO" -> "%2\r\n+version\r\n+7.0.0\r\n+proto\r\n:3\r\n";
            case "SUBSCRIBE" -> ">3\r\n+subscribe\r\n+" + words.get(1) + "\r\n:1\r\n";
            case "PUBSUB" -> "*2\r\n+" + words.get(2) + "\r\n:1\r\n";
            case "TIME" -> "*2\r\n+1\r\n+1\r\n";
            case "INFO" -> "$0\r\n\r\n";
            case "EVAL", "EVALSHA" -> "*1\r\n$0\r\n\r\n"; // nobody holds it, nobody waits
            case "SCAN" -> "*2\r\n+0\r\n*0\r\n";
            default -> "+OK\r\n";
        };
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
