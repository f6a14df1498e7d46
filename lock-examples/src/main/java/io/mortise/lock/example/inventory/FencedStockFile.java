// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;

/**
 * A file with the stock of each item, which rejects writes whose fencing token is too low. It is the resource that the lock
 * protects, and stands for a database: a write is atomic across processes and rejects a lower token, as
 * {@code UPDATE … SET left = ?, token = ? WHERE item = ? AND token <= ?} would. A holder that writes what it computed from the
 * stock reads with {@link #fenceAndRead}; otherwise the file does not protect its work between the read and the write.
 */
public final class FencedStockFile {
    // A FileLock belongs to the process: a second thread that locks the file gets an exception instead of waiting.
    private static final ReentrantLock inThisProcess = new ReentrantLock();

    private final Path file;

    /**
     * Opens a stock file.
     *
     * @param file a file that {@link #createIfMissing} has created
     */
    public FencedStockFile(Path file) {
        this.file = file;
    }

    /** Creates a file with these items, unless the file exists. */
    public static void createIfMissing(Path file, Map<String, Integer> items) throws IOException {
        if (Files.notExists(file)) {
            Map<String, Stock> stocks = new TreeMap<>();
            items.forEach((item, left) -> {
                if (!item.matches("[\\w.-]+") || left < 0) {
                    throw new IllegalArgumentException("invalid item: " + item + "=" + left
                            + "; expected a name of letters, digits, _ . - and a number that is not negative");
                }
                stocks.put(item, new Stock(left, 0));
            });
            new FencedStockFile(file).replace(stocks);
        }
    }

    /** Returns the number of units left of an item; empty if there is no such item. */
    public OptionalInt left(String item) throws IOException {
        Stock stock = read().get(item);
        return stock == null ? OptionalInt.empty() : OptionalInt.of(stock.left());
    }

    /**
     * Raises the highest token of an existing item, and returns the number of units left. From now on earlier holders are
     * rejected, so that none of them can write between this read and a write under the same lease.
     *
     * @param token fencing token of the reader's lease
     * @throws StaleTokenException if a higher token came before
     */
    public int fenceAndRead(String item, long token) throws IOException, StaleTokenException {
        return update(item, before -> before, OptionalLong.of(token));
    }

    /**
     * Writes the number of units left of an existing item.
     *
     * @param token fencing token of the writer's lease
     * @throws StaleTokenException if a higher token came before; nothing is written then
     */
    public void write(String item, int left, long token) throws IOException, StaleTokenException {
        update(item, before -> left, OptionalLong.of(token));
    }

    /** Writes without a token, as to a resource without fencing; the write is never rejected. */
    public void writeUnfenced(String item, int left) throws IOException {
        try {
            update(item, before -> left, OptionalLong.empty());
        } catch (StaleTokenException e) {
            throw new AssertionError(e); // cannot happen without a token
        }
    }

    /** Returns the number of units left, which {@code change} has computed from that before. */
    private int update(String item, IntUnaryOperator change, OptionalLong token)
            throws IOException, StaleTokenException {
        inThisProcess.lock();
        try (FileChannel channel =
                        FileChannel.open(sibling(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            Map<String, Stock> stocks = read();
            Stock before = stocks.get(item);
            if (before == null) {
                throw new IOException("no item \"" + item + "\" in " + file);
            }
            long written = token.orElse(before.token());
            if (written < before.token()) {
                throw new StaleTokenException(written, before.token());
            }
            int left = change.applyAsInt(before.left());
            stocks.put(item, new Stock(left, written));
            replace(stocks);
            return left;
        } finally {
            inThisProcess.unlock();
        }
    }

    private record Stock(int left, long token) {}

    private Map<String, Stock> read() throws IOException {
        Map<String, Stock> stocks = new TreeMap<>();
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split(" ", -1); // item left token
            stocks.put(fields[0], new Stock(Integer.parseInt(fields[1]), Long.parseLong(fields[2])));
        }
        return stocks;
    }

    /** Replaces the file atomically, so that readers see either the old or the new content. */
    private void replace(Map<String, Stock> stocks) throws IOException {
        Path next = sibling(".next");
        Files.writeString(
                next,
                stocks.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue().left() + " "
                                + entry.getValue().token() + "\n")
                        .collect(Collectors.joining()));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private Path sibling(String suffix) {
        return file.resolveSibling(file.getFileName() + suffix);
    }
}
