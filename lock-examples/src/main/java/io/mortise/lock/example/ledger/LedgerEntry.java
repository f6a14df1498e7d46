// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32;

/** One entry of the ledger, encoded as a text line with a checksum. The checksum reveals incomplete lines. */
sealed interface LedgerEntry {
    /**
     * The first entry of a ledger.
     *
     * @param accounts number of accounts
     * @param each initial balance of each account
     */
    record Start(int accounts, long each) implements LedgerEntry {}

    /** Makes readers ignore later entries with a lower fencing token. */
    record Fence(long token) implements LedgerEntry {}

    /**
     * Moves money from one account to another.
     *
     * @param token fencing token of the writer's lease
     * @param writer name of the writer
     * @param from account that loses the amount
     * @param to account that gets the amount
     * @param amount amount of money
     * @param left balance of {@code from} after the move, as computed by the writer
     */
    record Move(long token, String writer, int from, int to, long amount, long left) implements LedgerEntry {}

    /** Returns the line in the file, without a line break. */
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

    /** Parses a line; empty if the line is incomplete. */
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
