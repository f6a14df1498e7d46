// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A proxy that can silence its present connections while new ones work, and deliver their requests later. So requests can
 * arrive after their client has reconnected, as when a network changes a route while packets are still on the old one.
 */
final class DelayingProxy implements AutoCloseable {
    private final ServerSocket server;
    private final int target;
    private final List<Pair> pairs = new CopyOnWriteArrayList<>();

    DelayingProxy(int target) {
        this.target = target;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** Blocks all data on the present connections from now on. */
    void silence() {
        pairs.forEach(Pair::silence);
    }

    /** Closes the clients' ends of the present connections without closing the server's. */
    void cutClients() {
        pairs.forEach(pair -> close(pair.client));
    }

    /** Returns how many bytes of requests are held back. */
    int held() {
        return pairs.stream().mapToInt(Pair::held).sum();
    }

    /** Delivers the requests that were held back to the server. */
    void deliver() {
        pairs.forEach(Pair::deliver);
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Pair pair = new Pair(server.accept(), new Socket(InetAddress.getLoopbackAddress(), target));
                pairs.add(pair);
                thread(pair::requests);
                thread(pair::replies);
            } catch (IOException e) {
                return; // the proxy was closed, or the server stopped, at the end of the test
            }
        }
    }

    private static void thread(Runnable work) {
        Thread thread = new Thread(work, "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        pairs.forEach(pair -> {
            close(pair.client);
            close(pair.server);
        });
    }

    private static final class Pair {
        private final Socket client;
        private final Socket server;
        private @Nullable ByteArrayOutputStream silent;

        Pair(Socket client, Socket server) throws IOException {
            this.client = client;
            this.server = server;
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        }

        synchronized void silence() {
            silent = silent == null ? new ByteArrayOutputStream() : silent;
        }

        synchronized int held() {
            return silent == null ? 0 : silent.size();
        }

        synchronized void deliver() {
            if (silent != null) {
                try {
                    server.getOutputStream().write(silent.toByteArray());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                silent.reset();
            }
        }

        void requests() {
            pump(client, server, true);
        }

        void replies() {
            pump(server, client, false);
        }

        private void pump(Socket from, Socket to, boolean kept) {
            byte[] buffer = new byte[8_192];
            try {
                InputStream in = from.getInputStream();
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    synchronized (this) {
                        if (silent == null) {
                            to.getOutputStream().write(buffer, 0, count);
                        } else if (kept) {
                            silent.write(buffer, 0, count);
                        }
                    }
                }
            } catch (IOException e) {
                // one side closed its connection
            }
            synchronized (this) {
                if (silent == null) {
                    DelayingProxy.close(to);
                }
            }
        }
    }
}
