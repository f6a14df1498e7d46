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
 * A port that belongs to one proxy until it is closed. It is above those of servers and below those of outgoing connections,
 * and a byte of a file is locked for it: proxies of other processes check there too.
 */
final class PortReservation implements AutoCloseable {
    private static final int LOWEST = 30_000;
    private static final int COUNT = 2_700;

    /** Never closed: the system would drop all locks of this process on it. */
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

    /** One that no other proxy has; something else may listen there. */
    static PortReservation reserve() {
        while (true) {
            int number = LOWEST + ThreadLocalRandom.current().nextInt(COUNT);
            Optional<PortReservation> reserved = tryReserve(number);
            if (reserved.isPresent()) {
                return reserved.get();
            }
        }
    }

    /** That one, if no other proxy has it. */
    static Optional<PortReservation> tryReserve(int number) {
        try {
            FileLock lock = ALL.tryLock(number, 1, false);
            return lock == null ? Optional.empty() : Optional.of(new PortReservation(number, lock));
        } catch (OverlappingFileLockException e) {
            return Optional.empty(); // this process has it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** On the loopback interface. */
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
