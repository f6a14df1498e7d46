// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The links between one client and all nodes of a cluster, broken together. A fixture that keeps more for each client may
 * extend it. Thread-safe.
 */
public class ClusterLinks implements FaultyLink {
    private final Map<String, TcpProxy> toNodes = new LinkedHashMap<>();

    /**
     * Starts the proxies; nothing need listen behind them yet.
     *
     * @param nodes {@code host:port} of each
     */
    public ClusterLinks(Collection<String> nodes) {
        for (String node : nodes) {
            int colon = node.lastIndexOf(':');
            toNodes.put(node, TcpProxy.to(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1))));
        }
    }

    /** {@code 127.0.0.1:port} of the proxies, in the order of the nodes. */
    public final List<String> addresses() {
        return toNodes.values().stream().map(TcpProxy::address).toList();
    }

    /**
     * The proxy to one of the nodes.
     *
     * @param node as it was given
     * @throws IllegalArgumentException if it is none of them
     */
    public final TcpProxy to(String node) {
        TcpProxy proxy = toNodes.get(node);
        if (proxy == null) {
            throw new IllegalArgumentException(node + " is none of " + toNodes.keySet());
        }
        return proxy;
    }

    @Override
    public final void blackHole() {
        all(TcpProxy::blackHole);
    }

    @Override
    public final void cut() {
        all(TcpProxy::cut);
    }

    /** The next one of any node, since nobody knows which of them the next request takes. */
    @Override
    public void dropNextReply() {
        AtomicBoolean once = new AtomicBoolean(true);
        all(proxy -> proxy.dropNextReply(once));
    }

    /** The next one of each node: for a client that needs an answer of a majority. */
    public final void dropNextReplyOfEach() {
        all(TcpProxy::dropNextReply);
    }

    @Override
    public final void delay(Duration oneWay) {
        all(proxy -> proxy.delay(oneWay));
    }

    @Override
    public final void heal() {
        all(TcpProxy::heal);
    }

    /** Closes the proxies. What overrides this calls it. */
    @Override
    public void close() {
        all(TcpProxy::close);
    }

    private void all(Consumer<TcpProxy> fault) {
        toNodes.values().forEach(fault);
    }
}
