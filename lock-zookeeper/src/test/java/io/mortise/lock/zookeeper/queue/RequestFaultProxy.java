// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;

/**
 * A proxy that resets a client's connection at an exact request of the ZooKeeper protocol.
 *
 * <p>The proxy reads ZooKeeper's frames and counts the requests. It resets the connection either before the request reaches the
 * server, or before the reply reaches the client.
 */
final class RequestFaultProxy implements AutoCloseable {
    enum Fault {
        /** The request is lost and not executed. */
        REQUEST_LOST,
        /** The request is executed, but its reply is lost. */
        REPLY_LOST
    }

    private record PlannedFault(int step, Fault fault) {}

    // Requests that ZooKeeper's client sends by itself are no steps of the lock protocol. No renewal is due during a
    // round.
    private static final Set<Integer> UNCOUNTED_REQUESTS =
            Set.of(OpCode.ping, OpCode.auth, OpCode.setWatches, OpCode.setWatches2, OpCode.closeSession);

    private static final int MAX_BYTES = 1 << 20;

    private final int target;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Queue<PlannedFault> plan = new ArrayDeque<>(); // guarded by this, as the next three
    private final List<String> steps = new ArrayList<>();
    private int sinceFault;
    private final Set<String> faultedRequests = new HashSet<>();

    RequestFaultProxy(int target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    String connectString() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Restarts the count, and resets the connection at this step. The first step is 1. */
    synchronized void failAt(int step, Fault fault) {
        plan.clear();
        steps.clear();
        sinceFault = 0;
        plan.add(new PlannedFault(step, fault));
    }

    /** Plans another fault, at a step that is counted from the previous fault. */
    synchronized void thenFailAt(int step, Fault fault) {
        plan.add(new PlannedFault(step, fault));
    }

    /** Returns the kinds of request at which the proxy has reset the connection. */
    synchronized Set<String> faultedRequests() {
        return Set.copyOf(faultedRequests);
    }

    /** Cancels the planned faults. */
    synchronized void cancelFaults() {
        plan.clear();
    }

    @Override
    public synchronized String toString() {
        return steps.toString();
    }

    private synchronized Optional<Fault> nextFault(int type) {
        if (UNCOUNTED_REQUESTS.contains(type)) {
            return Optional.empty();
        }
        steps.add(Request.op2String(type));
        sinceFault++;
        PlannedFault planned = plan.peek();
        if (planned == null || sinceFault < planned.step) {
            return Optional.empty();
        }
        plan.remove();
        faultedRequests.add(Request.op2String(type));
        sinceFault = 0;
        steps.add(planned.fault.name());
        return Optional.of(planned.fault);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(client);
                sockets.add(server);
                Connection connection = new Connection(client, server);
                daemon(connection::forwardRequests);
                daemon(connection::forwardReplies);
            }
        } catch (IOException e) {
            close();
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "request-fault-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            // the listener no longer accepts connections, which is all that matters
        }
        sockets.forEach(RequestFaultProxy::reset);
    }

    private static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // the other side has closed the connection
        }
    }

    private final class Connection {
        private final Socket client;
        private final Socket server;
        /** The xid of the request whose reply is lost. */
        private volatile long lostReply = Long.MIN_VALUE;

        Connection(Socket client, Socket server) throws IOException {
            this.client = client;
            this.server = server;
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        }

        void forwardRequests() {
            boolean first = true;
            try {
                DataInputStream in = new DataInputStream(client.getInputStream());
                DataOutputStream out = new DataOutputStream(server.getOutputStream());
                while (true) {
                    byte[] frame = read(in);
                    if (!first && lostReply == Long.MIN_VALUE) { // later requests are not counted
                        ByteBuffer header = ByteBuffer.wrap(frame);
                        int xid = header.getInt();
                        Optional<Fault> fault = nextFault(header.getInt());
                        if (fault.equals(Optional.of(Fault.REQUEST_LOST))) {
                            return;
                        }
                        if (fault.equals(Optional.of(Fault.REPLY_LOST))) {
                            lostReply = xid;
                        }
                    }
                    first = false;
                    write(out, frame);
                }
            } catch (IOException e) {
                // one side has closed the connection
            } finally {
                closeBoth();
            }
        }

        void forwardReplies() {
            boolean first = true;
            try {
                DataInputStream in = new DataInputStream(server.getInputStream());
                DataOutputStream out = new DataOutputStream(client.getOutputStream());
                while (true) {
                    byte[] frame = read(in);
                    if (!first && ByteBuffer.wrap(frame).getInt() == lostReply) {
                        return;
                    }
                    first = false;
                    write(out, frame);
                }
            } catch (IOException e) {
                // one side has closed the connection
            } finally {
                closeBoth();
            }
        }

        private void closeBoth() {
            reset(client);
            reset(server);
            sockets.remove(client);
            sockets.remove(server);
        }

        /** Reads one frame. A connecting client also sends a four letter word, which reads as a length of 1.9 GB. */
        private static byte[] read(DataInputStream in) throws IOException {
            int length = in.readInt();
            if (length > MAX_BYTES) {
                throw new IOException("no frame: " + length + " bytes");
            }
            byte[] frame = new byte[length];
            in.readFully(frame);
            return frame;
        }

        private static void write(DataOutputStream out, byte[] frame) throws IOException {
            byte[] whole = ByteBuffer.allocate(4 + frame.length)
                    .putInt(frame.length)
                    .put(frame)
                    .array();
            out.write(whole);
            out.flush();
        }
    }
}
