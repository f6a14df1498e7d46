// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Event loop of a proxy, whose single thread accepts connections, forwards data and applies the faults.
 *
 * <p>Only this thread uses the state. Other threads submit commands, which are in effect when the call returns.
 */
final class ProxyEventLoop {
    private static final Logger log = LoggerFactory.getLogger(ProxyEventLoop.class);
    private static final long COMMAND_SECONDS = 10;
    private static final int MAX_TRIES = 100;

    // Above the usual ports of servers, and below those of outgoing connections.
    private static final int LOWEST_PORT = 30_000;
    private static final int PORTS = 2_700;
    private static final long MILLI = 1_000_000;
    // The selector's timeout is in milliseconds; shorter waits are split into slices of this many nanoseconds.
    private static final long SLICE_NANOS = 50_000;

    private final InetSocketAddress target;
    private final PortReservation port;
    private final Selector selector;
    private final Thread thread;
    private final Queue<FutureTask<?>> commands = new ConcurrentLinkedQueue<>();
    private final List<ProxyConnection> connections = new ArrayList<>();
    private final ProxyFaultState faults = new ProxyFaultState();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(64 << 10);
    private @Nullable ServerSocketChannel listener;
    private volatile boolean closing;

    ProxyEventLoop(InetSocketAddress target) {
        this.target = target;
        try {
            this.selector = Selector.open();
            this.port = listenSomewhere();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.thread = new Thread(this::run, TcpProxy.THREAD_NAME + address().getPort());
        thread.setDaemon(true);
        thread.start();
    }

    InetSocketAddress address() {
        return port.address();
    }

    interface Action {
        void run(ProxyFaultState faults) throws IOException;
    }

    void execute(Action action) {
        call(() -> {
            action.run(faults);
            return true;
        });
    }

    int connections() {
        return call(
                () -> (int) connections.stream().filter(ProxyConnection::isOpen).count());
    }

    int droppedReplies() {
        return faults.droppedReplies.get();
    }

    int heldBytes() {
        return call(() -> connections.stream()
                .filter(ProxyConnection::isOpen)
                .mapToInt(ProxyConnection::heldBytes)
                .sum());
    }

    void resetConnections() {
        execute(any -> connections.forEach(ProxyConnection::reset));
    }

    void refuseConnections() {
        execute(any -> closeListener());
    }

    void acceptConnections() {
        execute(any -> {
            if (listener == null) {
                listener = listen(address());
            }
        });
    }

    void close() {
        closing = true;
        selector.wakeup();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(COMMAND_SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private <T> T call(Callable<T> command) {
        FutureTask<T> task = new FutureTask<>(() -> {
            T result = command.call();
            // The operating system closes a channel only after the selector has processed its cancelled key.
            selector.selectNow(key -> {});
            return result;
        });
        if (closing) {
            throw new IllegalStateException("The proxy is closed");
        }
        commands.add(task);
        selector.wakeup();
        try {
            return task.get(COMMAND_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the proxy to execute a command", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("The proxy did not execute a command", e);
        }
    }

    private void run() {
        try {
            while (!closing) {
                for (FutureTask<?> task = commands.poll(); task != null; task = commands.poll()) {
                    task.run();
                }
                long now = System.nanoTime();
                long wait = OneWayForwarder.NOTHING_DUE;
                for (ProxyConnection connection : connections) {
                    if (connection.isOpen()) {
                        wait = Math.min(wait, connection.deliver(now));
                    }
                }
                connections.removeIf(connection -> !connection.isOpen());
                select(wait);
            }
        } catch (IOException | RuntimeException e) {
            log.error("event=proxy-failed target={}", target, e);
        } finally {
            closing = true;
            end();
        }
    }

    private void select(long waitNanos) throws IOException {
        if (waitNanos == OneWayForwarder.NOTHING_DUE) {
            selector.select(this::ready);
        } else if (waitNanos > 2 * MILLI) {
            selector.select(this::ready, waitNanos / MILLI - 1);
        } else {
            LockSupport.parkNanos(Math.min(waitNanos, SLICE_NANOS));
            selector.selectNow(this::ready);
        }
    }

    private void ready(SelectionKey key) {
        if (key.attachment() instanceof ProxyConnection connection) {
            connection.ready(key, scratch);
        } else if (key.isValid()) {
            accept((ServerSocketChannel) key.channel());
        }
    }

    private void accept(ServerSocketChannel from) {
        try {
            SocketChannel client = from.accept();
            if (client != null) {
                connections.add(new ProxyConnection(client, target, faults, selector));
            }
        } catch (IOException e) {
            log.warn("event=proxy-accept-failed target={} error={}", target, e.toString());
        }
    }

    private PortReservation listenSomewhere() throws IOException {
        for (int tries = 1; ; tries++) {
            PortReservation reserved = PortReservation.reserve(LOWEST_PORT, PORTS, port -> true);
            try {
                listener = listen(reserved.address());
                return reserved;
            } catch (BindException e) {
                reserved.close();
                if (tries == MAX_TRIES) {
                    throw e;
                }
            }
        }
    }

    private ServerSocketChannel listen(InetSocketAddress at) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(at);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_ACCEPT);
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private void closeListener() throws IOException {
        ServerSocketChannel open = listener;
        listener = null;
        if (open != null) {
            open.close();
        }
    }

    private void end() {
        connections.forEach(ProxyConnection::reset);
        commands.forEach(task -> task.cancel(false));
        try {
            closeListener();
            selector.close();
            port.close();
        } catch (IOException e) {
            log.debug("event=proxy-close-failed target={} error={}", target, e.toString());
        }
    }
}
