// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A TCP proxy on a free port of 127.0.0.1 that forwards to a target and breaks on command. Each command is in effect
 * when its method returns. One daemon thread for the whole proxy, which ends with {@link #close()}. Thread-safe.
 *
 * <p>When the target refuses, the proxy has accepted already, so the client sees a reset instead of a refusal.
 */
public final class TcpProxy implements FaultyLink {
    /** What the name of a proxy's thread begins with. */
    public static final String THREAD_NAME = "mortise-proxy-";

    private final ProxyEventLoop loop;

    private TcpProxy(InetSocketAddress target) {
        this.loop = new ProxyEventLoop(target);
    }

    /** Starts a proxy in front of {@code host:port}; nothing need listen there yet. */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(host, port));
    }

    /**
     * Calls a target that refuses again for so long, before the client is told by a reset: for a client that would take a refusal
     * for "not yet", and a reset for worse.
     */
    public TcpProxy withConnectRetry(Duration limit) {
        loop.tell(faults -> faults.connectRetryNanos = limit.toNanos());
        return this;
    }

    /** The port that clients connect to. */
    public int port() {
        return loop.address().getPort();
    }

    /** {@code 127.0.0.1:port}, for a connect string. */
    public String address() {
        return "127.0.0.1:" + port();
    }

    /**
     * Forwards nothing in either direction, yet keeps every connection open and accepts new ones: packets vanish and no
     * one is told. At {@link #heal()} all that was sent meanwhile is delivered, as TCP's retransmission would; also the
     * end of a connection that was closed meanwhile.
     */
    @Override
    public void blackHole() {
        loop.tell(faults -> faults.blackHole = true);
    }

    /** Resets every connection and refuses new ones until {@link #heal()}. What was under way is lost. */
    @Override
    public void cut() {
        loop.refuseConnections();
        loop.resetConnections();
    }

    /**
     * Ends every fault, not the delay. What was held back is delivered in order; on {@link #cut()} connections there is
     * nothing left to deliver.
     *
     * @throws IllegalStateException after {@link #cut()}, if something that is no proxy has taken the port in the meantime
     */
    @Override
    public void heal() {
        loop.tell(ProxyFaults::heal);
        loop.acceptConnections();
    }

    /**
     * Every byte arrives {@code oneWay} after it was sent, in each direction, so a round trip takes twice as long. Any
     * amount can be under way at once: latency without loss of throughput. Applies to what is sent from now on;
     * {@link Duration#ZERO} ends it.
     */
    @Override
    public void delay(Duration oneWay) {
        long nanos = oneWay.toNanos();
        loop.tell(faults -> faults.delayNanos = nanos);
    }

    /**
     * Requests reach the server, replies stay here until {@link #heal()}, or are lost by {@link #resetConnections()}: then
     * a request was executed and its sender cannot know.
     */
    public void withholdReplies() {
        loop.tell(faults -> faults.withholdReplies = true);
    }

    /**
     * The next bytes from the server, on whichever connection, are lost together with that connection, once. Beware of
     * clients that ping: the reply to a ping is a reply.
     */
    @Override
    public void dropNextReply() {
        dropNextReply(new AtomicBoolean(true));
    }

    /** @param once true until a reply was dropped, by this proxy or another one that was given it */
    void dropNextReply(AtomicBoolean once) {
        loop.tell(faults -> faults.dropNextReply = once);
    }

    /** Resets every open connection; new ones are served as before. Withheld bytes are lost. */
    public void resetConnections() {
        loop.resetConnections();
    }

    /** How many client connections are open. */
    public int connections() {
        return loop.connections();
    }

    /** How many bytes the proxy has taken and not delivered yet, in both directions. */
    public int heldBytes() {
        return loop.heldBytes();
    }

    /** Resets every connection and ends the thread; idempotent. */
    @Override
    public void close() {
        loop.close();
    }
}
