// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Reserves a port for one proxy, so that no other proxy in any process uses the same port.
 *
 * <p>The port is above the usual ports of servers and below those of outgoing connections. For each reserved port one byte of a
 * shared file is locked, which proxies of other processes check too.
 */
final class PortReservation implements AutoCloseable {
    private static final int LOWEST = 30_000;
    private static final int COUNT = 2_700;

    /** Never closed, since the operating system would then release all locks of this process on the file. */
    private static final FileChannel ALL = open();

    private final InetSocketAddress address;
    private final FileLock lock;

    private PortReservation(int number, FileLock lock) {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), number);
        this.lock = lock;
    }

    private static FileChannel open() {
        String name = "mortise-proxy-ports-" + System.getProperty("user.name");
        try {
            return FileChannel.open(
                    Path.of(System.getProperty("java.io.tmpdir"), name),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reserves a port that no other proxy has reserved; another program may listen on it. */
    static PortReservation reserve() {
        int first = ThreadLocalRandom.current().nextInt(COUNT);
        for (int i = 0; i < COUNT; i++) {
            Optional<PortReservation> reserved = tryReserve(LOWEST + (first + i) % COUNT);
            if (reserved.isPresent()) {
                return reserved.get();
            }
        }
        throw new IllegalStateException("proxies have reserved all " + COUNT + " ports from " + LOWEST);
    }

    /** Reserves the given port; returns empty if another proxy has reserved it. */
    static Optional<PortReservation> tryReserve(int number) {
        try {
            FileLock lock = ALL.tryLock(number, 1, false);
            return lock == null ? Optional.empty() : Optional.of(new PortReservation(number, lock));
        } catch (OverlappingFileLockException e) {
            return Optional.empty(); // this process has reserved it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the reserved port's address on the loopback interface. */
    InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        try {
            lock.release();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
