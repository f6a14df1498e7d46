// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The shared resource: a file with the stock, which refuses a write whose fencing token is below the highest it has seen.
 * Each write is one atomic step over all processes; a read takes no lock, and nothing protects what a caller does between
 * the two. That is the distributed lock's job.
 */
final class Inventory {
    // A FileLock belongs to the JVM: among the threads of one it excludes nobody, it throws.
    private static final ReentrantLock inThisJvm = new ReentrantLock();

    private final Path file;
    private final Path lockFile;
    private final Path next;

    Inventory(Path file) {
        this.file = file;
        this.lockFile = file.resolveSibling(file.getFileName() + ".lock");
        this.next = file.resolveSibling(file.getFileName() + ".next");
    }

    static Inventory create(Path file, int items) throws IOException {
        Inventory inventory = new Inventory(file);
        inventory.replace(Stock.of(items));
        return inventory;
    }

    /** The whole of one write or the other, never a mixture: the file is replaced, not overwritten. */
    Stock read() throws IOException {
        return Stock.parse(Files.readString(file).strip());
    }

    /**
     * Writes the stock, unless the token is below the highest seen.
     *
     * @param token empty: written unconditionally, as a resource without fencing would
     * @return the file after it; it has one more refusal if the write was refused
     */
    Written write(int left, OptionalLong token, String writer) throws IOException {
        inThisJvm.lock();
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            Stock before = read();
            boolean accepted = token.isEmpty() || token.getAsLong() >= before.highestToken();
            Stock after = accepted ? before.accept(left, token.orElse(0), writer) : before.refuse();
            replace(after);
            return new Written(accepted, after);
        } finally {
            inThisJvm.unlock();
        }
    }

    private void replace(Stock stock) throws IOException {
        Files.writeString(next, stock.line() + "\n");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** What became of a write. */
    record Written(boolean accepted, Stock stock) {}
}
