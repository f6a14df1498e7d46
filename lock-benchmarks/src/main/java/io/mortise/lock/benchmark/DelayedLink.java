// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The network link from benchmark clients to the store: direct, or through a proxy that adds latency. */
final class DelayedLink implements AutoCloseable {
    private final String endpoint;
    private final List<TcpProxy> proxies;

    private DelayedLink(String endpoint, List<TcpProxy> proxies) {
        this.endpoint = endpoint;
        this.proxies = proxies;
    }

    /**
     * Opens a link.
     *
     * @param endpoint the store's address; must have the form {@code host:port,…} if the round trip is not zero
     * @param roundTrip the latency that the proxies add to each round trip; zero for a direct link
     */
    static DelayedLink to(String endpoint, Duration roundTrip) {
        if (roundTrip.isZero()) {
            return new DelayedLink(endpoint, List.of());
        }
        List<TcpProxy> proxies = new ArrayList<>();
        List<String> addresses = new ArrayList<>();
        for (String server : endpoint.split(",", -1)) {
            int colon = server.lastIndexOf(':');
            TcpProxy proxy = TcpProxy.to(server.substring(0, colon), Integer.parseInt(server.substring(colon + 1)));
            proxy.delay(roundTrip.dividedBy(2));
            proxies.add(proxy);
            addresses.add(proxy.address());
        }
        return new DelayedLink(String.join(",", addresses), proxies);
    }

    String endpoint() {
        return endpoint;
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
