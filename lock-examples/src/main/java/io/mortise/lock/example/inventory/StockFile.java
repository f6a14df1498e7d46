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
import java.util.stream.Collectors;

/**
 * The protected resource: units of each item, and the highest fencing token that has written. It stands for a database: one
 * write is atomic over all processes, and refuses a lower token, as {@code UPDATE … SET left = ?, token = ? WHERE item = ? AND
 * token <= ?} would. What a caller does between a read and a write it does not protect.
 */
public final class StockFile {
    // A FileLock is the process's: to its threads it is an error, not a wait.
    private static final ReentrantLock inThisProcess = new ReentrantLock();

    private final Path file;

    /** @param file made by {@link #createIfMissing} */
    public StockFile(Path file) {
        this.file = file;
    }

    /** Stores these items unless the file exists. */
    public static void createIfMissing(Path file, Map<String, Integer> items) throws IOException {
        if (Files.notExists(file)) {
            Map<String, Stock> stocks = new TreeMap<>();
            items.forEach((item, left) -> {
                if (!item.matches("[\\w.-]+") || left < 0) {
                    throw new IllegalArgumentException(
                            "not an item: " + item + "=" + left + "; letters, digits, _ . - and a number");
                }
                stocks.put(item, new Stock(left, 0));
            });
            new StockFile(file).replace(stocks);
        }
    }

    /** Empty: there is no such item. */
    public OptionalInt left(String item) throws IOException {
        Stock stock = read().get(item);
        return stock == null ? OptionalInt.empty() : OptionalInt.of(stock.left());
    }

    /**
     * Writes how many are left of an item that is there.
     *
     * @throws StaleTokenException if a higher token has written before; nothing is written
     */
    public void write(String item, int left, long token) throws IOException, StaleTokenException {
        write(item, left, OptionalLong.of(token));
    }

    /** The same without a token, which is never refused: as a resource without fencing would. */
    public void writeUnfenced(String item, int left) throws IOException {
        try {
            write(item, left, OptionalLong.empty());
        } catch (StaleTokenException e) {
            throw new AssertionError(e); // there is no token to be stale
        }
    }

    private void write(String item, int left, OptionalLong token) throws IOException, StaleTokenException {
        inThisProcess.lock();
        try (FileChannel channel =
                        FileChannel.open(sibling(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            Map<String, Stock> stocks = read();
            Stock before = stocks.get(item);
            if (before == null) {
                throw new IOException("no item " + item + " in " + file);
            }
            long written = token.orElse(before.token());
            if (written < before.token()) {
                throw new StaleTokenException(written, before.token());
            }
            stocks.put(item, new Stock(left, written));
            replace(stocks);
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

    /** Whoever reads meanwhile sees the old or the new, never a part. */
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
