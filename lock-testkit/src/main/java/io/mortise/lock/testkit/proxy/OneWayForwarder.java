// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/** Forwards one direction of a proxied connection, delivering each chunk of data in order after its delay. Not thread-safe. */
final class OneWayForwarder {
    /** Returned by {@link #deliver} if no chunk will become due. */
    static final long NOTHING_DUE = Long.MAX_VALUE;

    // As in a real network, a sender is blocked when the receiver does not read.
    private static final int MAX_HELD = 4 << 20;

    private enum Kind {
        DATA,
        END,
        RESET
    }

    private record Chunk(Kind kind, long dueNanos, ByteBuffer bytes) {}

    private final SocketChannel from;
    private SocketChannel to;
    private final Deque<Chunk> chunks = new ArrayDeque<>();
    private int held;
    private boolean sourceEnded;
    private boolean done;
    private boolean targetFull;

    OneWayForwarder(SocketChannel from, SocketChannel to) {
        this.from = from;
        this.to = to;
    }

    /** Replaces the target, which was never connected, by another channel. */
    void deliverTo(SocketChannel other) {
        to = other;
    }

    /** Reads the available data, to be delivered at {@code dueNanos}; returns whether there were any bytes. */
    boolean read(ByteBuffer scratch, long dueNanos) {
        scratch.clear();
        Kind kind = Kind.DATA;
        try {
            if (from.read(scratch) < 0) {
                kind = Kind.END;
            }
        } catch (IOException e) {
            // A reset is forwarded like data: a network that delivers nothing does not deliver a reset either.
            kind = Kind.RESET;
        }
        scratch.flip();
        sourceEnded = kind != Kind.DATA;
        boolean any = scratch.hasRemaining();
        if (any || sourceEnded) {
            held += scratch.remaining();
            chunks.add(new Chunk(
                    kind,
                    dueNanos,
                    ByteBuffer.allocate(scratch.remaining()).put(scratch).flip()));
        }
        return any;
    }

    /**
     * Writes all chunks that are due.
     *
     * @return nanoseconds until the next chunk is due, or {@link #NOTHING_DUE}
     * @throws IOException if the connection must be reset
     */
    long deliver(long nowNanos) throws IOException {
        targetFull = false;
        for (Chunk chunk = chunks.peek(); chunk != null; chunk = chunks.peek()) {
            long left = chunk.dueNanos - nowNanos;
            if (left > 0) {
                return left;
            }
            switch (chunk.kind) {
                case RESET -> throw new IOException("reset by the other end");
                case END -> {
                    to.shutdownOutput();
                    done = true;
                }
                case DATA -> {
                    held -= to.write(chunk.bytes);
                    if (chunk.bytes.hasRemaining()) {
                        targetFull = true;
                        return NOTHING_DUE;
                    }
                }
            }
            chunks.remove();
        }
        return NOTHING_DUE;
    }

    /** Called instead of {@link #deliver} while delivery is blocked, when the selector need not wait for the target. */
    void hold() {
        targetFull = false;
    }

    boolean wantsRead() {
        return !sourceEnded && held < MAX_HELD;
    }

    boolean wantsWrite() {
        return targetFull;
    }

    boolean done() {
        return done;
    }

    int heldBytes() {
        return held;
    }
}
