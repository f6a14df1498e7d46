// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32;

/** One line of the ledger, with its checksum. It ends with a checksum: a line that was written in part is no entry. */
sealed interface LedgerEntry {
    /** The first one: so many accounts, each with so much. */
    record Start(int accounts, long each) implements LedgerEntry {}

    /** From here on, entries with a lower fencing token do not count. */
    record Fence(long token) implements LedgerEntry {}

    /**
     * Money moved from one account to another.
     *
     * @param token the fencing token of the writer's lease
     * @param writer its name
     * @param left what the first account has then, as the writer believes
     */
    record Move(long token, String writer, int from, int to, long amount, long left) implements LedgerEntry {}

    /** The line of the file, without the end of the line. */
    default String line() {
        String text;
        if (this instanceof Start start) {
            text = "start " + start.accounts() + " " + start.each();
        } else if (this instanceof Fence fence) {
            text = "fence " + fence.token();
        } else {
            Move move = (Move) this;
            text = "move " + move.token() + " " + move.writer() + " " + move.from() + " " + move.to() + " "
                    + move.amount() + " " + move.left();
        }
        return text + " " + checksum(text);
    }

    /** Empty: the line is not whole. */
    static Optional<LedgerEntry> parse(String line) {
        int end = line.lastIndexOf(' ');
        if (end < 0 || !line.substring(end + 1).equals(checksum(line.substring(0, end)))) {
            return Optional.empty();
        }
        String[] fields = line.split(" ", -1);
        return switch (fields[0]) {
            case "start" -> Optional.of(new Start(Integer.parseInt(fields[1]), Long.parseLong(fields[2])));
            case "fence" -> Optional.of(new Fence(Long.parseLong(fields[1])));
            case "move" ->
                Optional.of(new Move(
                        Long.parseLong(fields[1]),
                        fields[2],
                        Integer.parseInt(fields[3]),
                        Integer.parseInt(fields[4]),
                        Long.parseLong(fields[5]),
                        Long.parseLong(fields[6])));
            default -> Optional.empty();
        };
    }

    private static String checksum(String text) {
        CRC32 crc = new CRC32();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
