// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/**
 * The ledger's file: whole lines, appended. A local file, or one on a file system whose appends are atomic over all who write;
 * NFS is none. Not thread-safe.
 */
final class AppendOnlyLedgerFile implements AutoCloseable {
    private static final byte END = '\n';

    private final FileChannel read;
    private final FileChannel append;
    private long seen;
    private int torn;

    private AppendOnlyLedgerFile(FileChannel read, FileChannel append) {
        this.read = read;
        this.append = append;
    }

    static AppendOnlyLedgerFile open(Path file) throws IOException {
        return new AppendOnlyLedgerFile(
                FileChannel.open(file, StandardOpenOption.READ),
                FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
    }

    static void createIfMissing(Path file, LedgerEntry.Start start) throws IOException {
        if (Files.notExists(file)) {
            Files.writeString(file, start.line() + "\n");
        }
    }

    /** Adds one entry; it is on the disk when this returns. */
    void append(LedgerEntry entry) throws IOException {
        // A writer that was killed may have left half a line: ours begins on a new one.
        String line = (endsWithin() ? "\n" : "") + entry.line() + "\n";
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            append.write(bytes);
        }
        append.force(false);
    }

    /** Passes on each entry that was added since the last call, by whomever. */
    void readNew(Consumer<LedgerEntry> to) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(read.size() - seen));
        while (bytes.hasRemaining() && read.read(bytes, seen + bytes.position()) >= 0) {
            // The rest comes with the next read.
        }
        byte[] found = bytes.array();
        int begin = 0;
        for (int i = 0; i < bytes.position(); i++) {
            if (found[i] == END) {
                LedgerEntry.parse(new String(found, begin, i - begin, StandardCharsets.UTF_8))
                        .ifPresentOrElse(to, () -> torn++);
                begin = i + 1;
            }
        }
        seen += begin; // what comes after it is not whole yet
    }

    /** How many lines were not whole. */
    int torn() {
        return torn;
    }

    private boolean endsWithin() throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        return read.read(last, read.size() - 1) == 1 && last.get(0) != END;
    }

    @Override
    public void close() throws IOException {
        append.close();
        read.close();
    }
}
