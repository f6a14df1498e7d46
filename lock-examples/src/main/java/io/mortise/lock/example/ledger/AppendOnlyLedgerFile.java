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
 * Appends entries to the ledger file as complete lines, and reads the entries of all writers. The file must be on a local file
 * system, or on another one on which appends of all writers are atomic, unlike NFS. Not thread-safe.
 */
final class AppendOnlyLedgerFile implements AutoCloseable {
    private static final byte END = '\n';

    private final FileChannel read;
    private final FileChannel append;
    private long seen;
    private int incompleteLines;

    private AppendOnlyLedgerFile(FileChannel read, FileChannel append) {
        this.read = read;
        this.append = append;
    }

    /** Opens an existing ledger file. */
    static AppendOnlyLedgerFile open(Path file) throws IOException {
        return new AppendOnlyLedgerFile(
                FileChannel.open(file, StandardOpenOption.READ),
                FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
    }

    /** Creates a ledger file with its first entry, unless the file exists. */
    static void createIfMissing(Path file, LedgerEntry.Start start) throws IOException {
        if (Files.notExists(file)) {
            Files.writeString(file, start.line() + "\n");
        }
    }

    /** Appends one entry; it is on the disk when this returns. */
    void append(LedgerEntry entry) throws IOException {
        // A killed writer may have left an incomplete line, so this entry then begins on a new line.
        String line = (endsWithIncompleteLine() ? "\n" : "") + entry.line() + "\n";
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            append.write(bytes);
        }
        append.force(false);
    }

    /** Passes on each entry that any writer has appended since the last call. */
    void readNew(Consumer<LedgerEntry> to) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(read.size() - seen));
        while (bytes.hasRemaining() && read.read(bytes, seen + bytes.position()) >= 0) {
            // Continues with the remaining bytes.
        }
        byte[] found = bytes.array();
        int begin = 0;
        for (int i = 0; i < bytes.position(); i++) {
            if (found[i] == END) {
                LedgerEntry.parse(new String(found, begin, i - begin, StandardCharsets.UTF_8))
                        .ifPresentOrElse(to, () -> incompleteLines++);
                begin = i + 1;
            }
        }
        seen += begin; // the last line is still incomplete
    }

    /** Returns the number of incomplete lines so far, such as those of killed writers. */
    int incompleteLines() {
        return incompleteLines;
    }

    private boolean endsWithIncompleteLine() throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        return read.read(last, read.size() - 1) == 1 && last.get(0) != END;
    }

    @Override
    public void close() throws IOException {
        append.close();
        read.close();
    }
}
