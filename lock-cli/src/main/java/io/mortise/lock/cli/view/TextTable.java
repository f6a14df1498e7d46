// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import java.util.ArrayList;
import java.util.List;

/** Formats rows of text as aligned columns. The cells must already be escaped for a terminal. */
final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    TextTable(String... header) {
        row(header);
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    /** Returns the lines of the table, the header first, without trailing spaces. */
    List<String> lines() {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], DisplayWidth.of(row.get(i)));
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String cell = row.get(i);
                line.append(cell);
                if (i < columns - 1) {
                    line.append(" ".repeat(widths[i] - DisplayWidth.of(cell) + 2));
                }
            }
            lines.add(line.toString());
        }
        return lines;
    }
}
