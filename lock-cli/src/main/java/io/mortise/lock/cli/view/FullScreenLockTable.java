// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockStatus;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Shows the held locks as a table on the terminal's alternate screen, and redraws it in place. The previous content of the
 * terminal is restored on close, also when a signal ends the process. Thread-safe, as the shutdown hook that restores the
 * terminal runs on another thread.
 */
final class FullScreenLockTable implements WatchView {
    private static final String ESC = "\u001b[";
    /**
     * Switches to the alternate screen, hides the cursor, and turns line wrapping off, as only the terminal knows the exact
     * width of each character.
     */
    private static final String ENTER = ESC + "?1049h" + ESC + "?25l" + ESC + "?7l";

    private static final String LEAVE = ESC + "?7h" + ESC + "?25h" + ESC + "?1049l";

    private final PrintWriter out;
    private final String title;
    private final Thread restoreHook = new Thread(this::restore, "lockctl-restore-screen");
    private SortedMap<String, LockStatus> last = new TreeMap<>();
    private TerminalSize size = TerminalSize.DEFAULT;
    private boolean restored;

    private FullScreenLockTable(PrintWriter out, String title) {
        this.out = out;
        this.title = HolderFormat.safe(title);
    }

    static FullScreenLockTable open(PrintWriter out, String title) {
        FullScreenLockTable screen = new FullScreenLockTable(out, title);
        Runtime.getRuntime().addShutdownHook(screen.restoreHook);
        screen.print(ENTER);
        return screen;
    }

    @Override
    public boolean show(SortedMap<String, LockStatus> held) {
        last = held;
        int waiting =
                held.values().stream().mapToInt(lock -> lock.waiters().size()).sum();
        return draw(held.size() + " held, " + waiting + " waiting", held);
    }

    @Override
    public boolean showUnavailable(String reason) {
        return draw("STORE UNAVAILABLE, showing the last known state: " + HolderFormat.safe(reason), last);
    }

    private boolean draw(String state, SortedMap<String, LockStatus> held) {
        size = TerminalSize.now().orElse(size);
        List<String> lines = new ArrayList<>();
        lines.add(HolderFormat.seconds(Instant.now()) + "  " + title);
        lines.add(state);
        lines.add("");
        List<String> table = held.isEmpty() ? List.of("no lock is held") : LockTable.live(held.values(), Instant.now());
        int room = Math.max(1, size.rows() - lines.size());
        if (table.size() <= room) {
            lines.addAll(table);
        } else {
            lines.addAll(table.subList(0, Math.max(0, room - 1)));
            lines.add("... and " + (table.size() - (room - 1)) + " more");
        }
        StringBuilder frame = new StringBuilder(ESC).append('H');
        for (int i = 0; i < lines.size(); i++) {
            frame.append(i == 0 ? "" : "\r\n")
                    .append(DisplayWidth.truncate(lines.get(i), size.columns()))
                    .append(ESC)
                    .append('K');
        }
        return print(frame.toString());
    }

    private synchronized boolean print(String text) {
        if (!restored) {
            out.print(text);
        }
        return !out.checkError();
    }

    private synchronized void restore() {
        print(LEAVE);
        restored = true;
    }

    @Override
    public void close() {
        restore();
        try {
            Runtime.getRuntime().removeShutdownHook(restoreHook);
        } catch (IllegalStateException e) {
            return; // the JVM is shutting down, and the hook restores the terminal
        }
    }
}
