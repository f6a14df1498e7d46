// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.testkit.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What lies between the competitors and the store: nothing, or a proxy that delays before each of its servers. */
final class Line implements AutoCloseable {
    private final String endpoint;
    private final List<TcpProxy> proxies;

    private Line(String endpoint, List<TcpProxy> proxies) {
        this.endpoint = endpoint;
        this.proxies = proxies;
    }

    /** @param endpoint {@code host:port,…} if the round trip is not zero */
    static Line to(String endpoint, Duration roundTrip) {
        if (roundTrip.isZero()) {
            return new Line(endpoint, List.of());
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
        return new Line(String.join(",", addresses), proxies);
    }

    String endpoint() {
        return endpoint;
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
