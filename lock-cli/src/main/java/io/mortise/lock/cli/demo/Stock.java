// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

/**
 * What the inventory file holds.
 *
 * @param left items in stock
 * @param highestToken the highest fencing token seen; 0 before the first
 * @param writes accepted writes
 * @param refused refused writes
 * @param handOffs how often an accepted write came from another writer than the one before
 * @param repeated accepted writes whose token was not above all before; each sale has a grant of its own, so 0 is right
 * @param lastWriter who wrote last; {@code -} before the first
 */
record Stock(int left, long highestToken, long writes, long refused, long handOffs, long repeated, String lastWriter) {
    static Stock of(int items) {
        return new Stock(items, 0, 0, 0, 0, 0, "-");
    }

    Stock refuse() {
        return new Stock(left, highestToken, writes, refused + 1, handOffs, repeated, lastWriter);
    }

    /** @param token 0 for a write without one */
    Stock accept(int newLeft, long token, String writer) {
        boolean handedOff = !lastWriter.equals("-") && !lastWriter.equals(writer);
        boolean again = token != 0 && token <= highestToken;
        return new Stock(
                newLeft,
                Math.max(token, highestToken),
                writes + 1,
                refused,
                handOffs + (handedOff ? 1 : 0),
                repeated + (again ? 1 : 0),
                writer);
    }

    String line() {
        return "left=" + left + " highest=" + highestToken + " writes=" + writes + " refused=" + refused + " handoffs="
                + handOffs + " repeated=" + repeated + " last=" + lastWriter;
    }

    static Stock parse(String line) {
        Fields fields = new Fields(line);
        return new Stock(
                fields.integer("left"),
                fields.number("highest"),
                fields.number("writes"),
                fields.number("refused"),
                fields.number("handoffs"),
                fields.number("repeated"),
                fields.text("last"));
    }
}
