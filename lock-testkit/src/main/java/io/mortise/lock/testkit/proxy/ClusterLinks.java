// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Connects one client to all nodes of a cluster through proxies, and injects faults on all of them at once.
 *
 * <p>A test fixture may extend this class to keep further state for each client. Thread-safe.
 */
public class ClusterLinks implements FaultyLink {
    private final Map<String, TcpProxy> toNodes = new LinkedHashMap<>();

    /**
     * Starts a proxy for each node; the nodes need not listen yet.
     *
     * @param nodes {@code host:port} of each node
     */
    public ClusterLinks(Collection<String> nodes) {
        for (String node : nodes) {
            int colon = node.lastIndexOf(':');
            toNodes.put(node, TcpProxy.to(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1))));
        }
    }

    /** Returns {@code 127.0.0.1:port} of each proxy, in the order of the nodes. */
    public final List<String> addresses() {
        return toNodes.values().stream().map(TcpProxy::address).toList();
    }

    /**
     * Returns the proxy to one of the nodes.
     *
     * @param node {@code host:port} as passed to the constructor
     * @throws IllegalArgumentException if there is no such node
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

    /** Drops the next reply of any node, since it is unknown to which node the next request is sent. */
    @Override
    public void dropNextReply() {
        AtomicBoolean once = new AtomicBoolean(true);
        all(proxy -> proxy.dropNextReply(once));
    }

    /** Drops the next reply of each node, for a client that needs replies of a majority. */
    public final void dropNextReplyOfEach() {
        all(TcpProxy::dropNextReply);
    }

    @Override
    public final void delay(Duration oneWay) {
        all(proxy -> proxy.delay(oneWay));
    }

    @Override
    public final OptionalInt openConnections() {
        return OptionalInt.of(
                toNodes.values().stream().mapToInt(TcpProxy::connections).sum());
    }

    @Override
    public final OptionalInt droppedReplies() {
        return OptionalInt.of(toNodes.values().stream()
                .mapToInt(proxy -> proxy.droppedReplies().orElse(0))
                .sum());
    }

    @Override
    public final void heal() {
        all(TcpProxy::heal);
    }

    /** Closes the proxies. A method that overrides this must call it. */
    @Override
    public void close() {
        all(TcpProxy::close);
    }

    private void all(Consumer<TcpProxy> fault) {
        toNodes.values().forEach(fault);
    }
}
