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
import java.util.function.IntPredicate;

/**
 * Reserves a port for a proxy or a server of a test, so that none in any process uses the same one, even while nobody listens on it.
 * Thread-safe.
 *
 * <p>For each reserved port one byte of a shared file is locked, which other processes of the same user check too. The end of the
 * process releases its ports.
 */
public final class PortReservation implements AutoCloseable {
    /** Never closed, since the operating system would then release all locks of this process on the file. */
    private static final FileChannel ALL = open();

    private final InetSocketAddress address;
    private final FileLock lock;

    private PortReservation(int number, FileLock lock) {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), number);
        this.lock = lock;
    }

    private static FileChannel open() {
        String name = "mortise-test-ports-" + System.getProperty("user.name");
        try {
            return FileChannel.open(
                    Path.of(System.getProperty("java.io.tmpdir"), name),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reserves one of the ports from {@code lowest} on, chosen at random. Another program may listen on it.
     *
     * @param count the number of ports to choose from, at least 1
     * @param suits tells whether a port may be used; called while it is reserved
     * @throws IllegalStateException if all of them are reserved or do not suit
     */
    public static PortReservation reserve(int lowest, int count, IntPredicate suits) {
        int first = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            int number = lowest + (first + i) % count;
            Optional<PortReservation> reserved = tryReserve(number);
            if (reserved.isPresent()) {
                if (suits.test(number)) {
                    return reserved.get();
                }
                reserved.get().close();
            }
        }
        throw new IllegalStateException("all " + count + " ports from " + lowest + " are reserved or taken");
    }

    /** Reserves the given port; returns empty if it is reserved. */
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
    public InetSocketAddress address() {
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
