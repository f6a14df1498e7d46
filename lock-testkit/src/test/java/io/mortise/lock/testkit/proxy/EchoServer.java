// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A server that sends back all bytes that it receives, and counts them. */
final class EchoServer implements AutoCloseable {
    private final ServerSocket listener;
    private final AtomicLong received = new AtomicLong();

    private final Thread acceptor;

    EchoServer() throws IOException {
        this(0);
    }

    EchoServer(int port) throws IOException {
        listener = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        acceptor = thread(() -> {
            while (true) {
                Socket socket = listener.accept();
                thread(() -> echo(socket));
            }
        });
    }

    int port() {
        return listener.getLocalPort();
    }

    long received() {
        return received.get();
    }

    private void echo(Socket socket) throws IOException {
        try (socket) {
            byte[] buffer = new byte[8192];
            for (int n = socket.getInputStream().read(buffer);
                    n >= 0;
                    n = socket.getInputStream().read(buffer)) {
                received.addAndGet(n);
                socket.getOutputStream().write(buffer, 0, n);
            }
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static Thread thread(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // The socket was closed, which ends its thread.
                    }
                },
                "echo-server");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        // A pending accept() can still accept one more connection after the close.
        Await.until("the server accepts no more", Duration.ofSeconds(10), () -> !acceptor.isAlive());
    }
}
