// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * One server that the client names, asked for itself by a word of four letters: no request of a session tells which server it
 * is, nor its version.
 */
record ServerWord(String host, int port, ZKClientConfig config, int timeoutMillis) {
    /** What it said to {@code srvr}, or what went wrong. */
    record Said(String text, Optional<Exception> failure) {}

    /** None if the client has a handle of the application's: it does not tell its servers. */
    static List<ServerWord> of(ZooKeeperOptions options, int timeoutMillis) {
        return options.connectString()
                .map(named -> new ConnectStringParser(named)
                        .getServerAddresses().stream()
                                .map(server -> new ServerWord(
                                        server.getHostString(),
                                        server.getPort(),
                                        options.clientConfig().orElseGet(ZKClientConfig::new),
                                        timeoutMillis))
                                .toList())
                .orElse(List.of());
    }

    String endpoint() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Blocks for the timeout at most, twice. */
    Said ask() {
        try {
            return new Said(
                    FourLetterWordMain.send4LetterWord(host, port, "srvr", config, timeoutMillis), Optional.empty());
        } catch (Exception e) {
            return new Said("", Optional.of(e));
        }
    }
}
