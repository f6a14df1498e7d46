// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A TCP proxy on a free port of 127.0.0.1 that forwards to a target and can inject network faults.
 *
 * <p>Each fault is in effect when its method returns. The proxy has one daemon thread, which ends with {@link #close()}.
 * Thread-safe.
 *
 * <p>If the target refuses a connection, the proxy has already accepted it, so the client sees a reset instead of a refusal.
 */
public final class TcpProxy implements FaultyLink {
    /** Prefix of the names of proxy threads. */
    public static final String THREAD_NAME = "mortise-proxy-";

    private final ProxyEventLoop loop;

    private TcpProxy(InetSocketAddress target) {
        this.loop = new ProxyEventLoop(target);
    }

    /** Starts a proxy to {@code host:port}; the target need not listen yet. */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(host, port));
    }

    /**
     * Retries a target that refuses connections for up to {@code limit} before resetting the client's connection. For clients
     * that retry after a refusal, but not after a reset.
     */
    public TcpProxy withConnectRetry(Duration limit) {
        loop.execute(faults -> faults.connectRetryNanos = limit.toNanos());
        return this;
    }

    /** Returns the port that clients connect to. */
    public int port() {
        return loop.address().getPort();
    }

    /** Returns {@code 127.0.0.1:port}, for a connect string. */
    public String address() {
        return "127.0.0.1:" + port();
    }

    /**
     * Forwards nothing in either direction, but keeps every connection open and accepts new ones. At {@link #heal()} all data
     * that was sent meanwhile is delivered, as by TCP's retransmission, and also the end of a connection that was closed
     * meanwhile.
     */
    @Override
    public void blackHole() {
        loop.execute(faults -> faults.blackHole = true);
    }

    /** Resets every connection and refuses new ones until {@link #heal()}. Data in transit is lost. */
    @Override
    public void cut() {
        loop.refuseConnections();
        loop.resetConnections();
    }

    /**
     * Ends every fault, but not the delay. Data that was held back is delivered in order; connections that were
     * {@linkplain #cut() cut} have no such data.
     *
     * @throws IllegalStateException after {@link #cut()}, if another program has taken the port in the meantime
     */
    @Override
    public void heal() {
        loop.execute(ProxyFaultState::heal);
        loop.acceptConnections();
    }

    /**
     * Delivers every byte {@code oneWay} after it was sent, in each direction, so that a round trip takes twice as long. Any
     * amount of data can be in transit, so throughput is not limited. Applies to data that is sent from now on;
     * {@link Duration#ZERO} ends the delay.
     */
    @Override
    public void delay(Duration oneWay) {
        long nanos = oneWay.toNanos();
        loop.execute(faults -> faults.delayNanos = nanos);
    }

    /**
     * Forwards requests, but holds replies back until {@link #heal()}. After {@link #resetConnections()} they are lost: a
     * request was executed, and its sender cannot know that.
     */
    public void withholdReplies() {
        loop.execute(faults -> faults.withholdReplies = true);
    }

    /**
     * Drops the next bytes from the server on any connection, once, and resets that connection. If a client sends pings, the
     * dropped reply may be that of a ping.
     */
    @Override
    public void dropNextReply() {
        dropNextReply(new AtomicBoolean(true));
    }

    /**
     * Drops the next reply if no other proxy with the same flag has dropped one.
     *
     * @param once true until a reply was dropped, by this proxy or another one with this flag
     */
    void dropNextReply(AtomicBoolean once) {
        loop.execute(faults -> faults.dropNextReply = once);
    }

    @Override
    public OptionalInt droppedReplies() {
        return OptionalInt.of(loop.droppedReplies());
    }

    /** Resets every open connection and keeps accepting new ones. Data that was held back is lost. */
    public void resetConnections() {
        loop.resetConnections();
    }

    @Override
    public OptionalInt openConnections() {
        return OptionalInt.of(connections());
    }

    /** Returns the number of open client connections. */
    public int connections() {
        return loop.connections();
    }

    /** Returns the number of bytes that the proxy has received and not yet delivered, in both directions. */
    public int heldBytes() {
        return loop.heldBytes();
    }

    /** Resets every connection and ends the thread; idempotent. */
    @Override
    public void close() {
        loop.close();
    }
}
