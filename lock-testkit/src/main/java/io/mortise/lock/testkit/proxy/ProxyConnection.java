// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Forwards data between one accepted client connection and its connection to the target. Used by the proxy's thread only. */
final class ProxyConnection {
    private static final Logger log = LoggerFactory.getLogger(ProxyConnection.class);

    private static final long RECONNECT_NANOS = 5_000_000;

    private final ProxyFaultState faults;
    private final Selector selector;
    private final long accepted = System.nanoTime();
    private final SocketAddress target;
    private final SocketChannel client;
    private final SelectionKey clientKey;
    private final OneWayForwarder requests;
    private SocketChannel server;
    private SelectionKey serverKey;
    private OneWayForwarder replies;
    private long nextConnectNanos = accepted;
    private boolean connecting;
    private boolean connected;

    ProxyConnection(SocketChannel client, InetSocketAddress target, ProxyFaultState faults, Selector selector)
            throws IOException {
        this.client = client;
        this.target = target;
        this.faults = faults;
        this.selector = selector;
        this.server = SocketChannel.open();
        this.requests = new OneWayForwarder(client, server);
        this.replies = new OneWayForwarder(server, client);
        prepare(client);
        prepare(server);
        this.clientKey = client.register(selector, SelectionKey.OP_READ, this);
        this.serverKey = server.register(selector, 0, this);
    }

    private static void prepare(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    void ready(SelectionKey key, ByteBuffer scratch) {
        if (!key.isValid()) {
            return;
        }
        if (key.isConnectable()) {
            finishConnect();
        }
        if (key.isValid() && key.isReadable()) {
            long due = System.nanoTime() + faults.delayNanos;
            boolean any = (key == clientKey ? requests : replies).read(scratch, due);
            if (any && key == serverKey && faults.dropNextReply.getAndSet(false)) {
                faults.droppedReplies.incrementAndGet();
                log.info("event=reply-dropped target={}", target);
                reset();
            }
        }
    }

    /**
     * Delivers the data that the faults let pass; returns nanoseconds until more is due, or
     * {@link OneWayForwarder#NOTHING_DUE}.
     */
    long deliver(long nowNanos) {
        long wait = OneWayForwarder.NOTHING_DUE;
        try {
            if (!connecting && !faults.blackHole) {
                wait = connect(nowNanos);
            }
            wait = Math.min(wait, forward(requests, !faults.blackHole, nowNanos));
            wait = Math.min(wait, forward(replies, !faults.blackHole && !faults.withholdReplies, nowNanos));
            if (requests.done() && replies.done()) {
                close();
            }
        } catch (IOException e) {
            log.debug("event=proxy-connection-lost target={} error={}", target, e.toString());
            reset();
        }
        if (isOpen()) {
            clientKey.interestOps(interest(requests, replies));
            serverKey.interestOps(connected ? interest(replies, requests) : connecting ? SelectionKey.OP_CONNECT : 0);
        }
        return wait;
    }

    private long forward(OneWayForwarder direction, boolean open, long nowNanos) throws IOException {
        if (open && connected) {
            return direction.deliver(nowNanos);
        }
        direction.hold();
        return OneWayForwarder.NOTHING_DUE;
    }

    private static int interest(OneWayForwarder read, OneWayForwarder write) {
        return (read.wantsRead() ? SelectionKey.OP_READ : 0) | (write.wantsWrite() ? SelectionKey.OP_WRITE : 0);
    }

    /** Connects to the target when it is time; returns nanoseconds until then, or {@link OneWayForwarder#NOTHING_DUE}. */
    private long connect(long nowNanos) throws IOException {
        if (nextConnectNanos - nowNanos > 0) {
            return nextConnectNanos - nowNanos;
        }
        try {
            connecting = true;
            connected = server.connect(target);
            return OneWayForwarder.NOTHING_DUE;
        } catch (ConnectException e) {
            return onRefused(e);
        }
    }

    private void finishConnect() {
        try {
            connected = server.finishConnect();
        } catch (IOException e) {
            try {
                onRefused(e);
            } catch (IOException last) {
                reset();
            }
        }
    }

    /** Prepares the next connection attempt; returns nanoseconds until then. */
    private long onRefused(IOException failure) throws IOException {
        log.debug("event=proxy-target-refused target={} error={}", target, failure.toString());
        if (System.nanoTime() - accepted >= faults.connectRetryNanos) {
            throw failure;
        }
        server.close();
        server = SocketChannel.open();
        prepare(server);
        serverKey = server.register(selector, 0, this);
        requests.deliverTo(server);
        replies = new OneWayForwarder(server, client);
        connecting = false;
        nextConnectNanos = System.nanoTime() + RECONNECT_NANOS;
        return RECONNECT_NANOS;
    }

    boolean isOpen() {
        return client.isOpen();
    }

    int heldBytes() {
        return requests.heldBytes() + replies.heldBytes();
    }

    /** Resets the connections to both ends; data that was held back is lost. */
    void reset() {
        try {
            client.setOption(StandardSocketOptions.SO_LINGER, 0);
            server.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            // Already closed by the other end.
        }
        close();
    }

    private void close() {
        try (client;
                SocketChannel last = server) {
            clientKey.cancel();
            serverKey.cancel();
        } catch (IOException e) {
            log.debug("event=proxy-close-failed target={} error={}", target, e.toString());
        }
    }
}
