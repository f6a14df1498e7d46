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
 * A table on the terminal's alternate screen, redrawn in place. What the terminal showed before is there again afterwards,
 * also when a signal ends the process. Thread-safe: the hook that restores it runs on a thread of its own.
 */
final class FullScreenLockTable implements WatchView {
    private static final String ESC = "\u001b[";
    /** The other screen, no cursor, and no line goes on in the next: how wide a character is only the terminal knows. */
    private static final String ENTER = ESC + "?1049h" + ESC + "?25l" + ESC + "?7l";

    private static final String LEAVE = ESC + "?7h" + ESC + "?25h" + ESC + "?1049l";

    private final PrintWriter out;
    private final String title;
    private final Thread restore = new Thread(this::leave, "lockctl-restore-screen");
    private SortedMap<String, LockStatus> last = new TreeMap<>();
    private TerminalSize size = TerminalSize.USUAL;
    private boolean left;

    private FullScreenLockTable(PrintWriter out, String title) {
        this.out = out;
        this.title = HolderFormat.safe(title);
    }

    static FullScreenLockTable open(PrintWriter out, String title) {
        FullScreenLockTable screen = new FullScreenLockTable(out, title);
        Runtime.getRuntime().addShutdownHook(screen.restore);
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
    public boolean unavailable(String why) {
        return draw("NO ANSWER, this is what was last seen: " + HolderFormat.safe(why), last);
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
                    .append(DisplayWidth.cut(lines.get(i), size.columns()))
                    .append(ESC)
                    .append('K');
        }
        return print(frame.toString());
    }

    private synchronized boolean print(String text) {
        if (!left) {
            out.print(text);
        }
        return !out.checkError();
    }

    private synchronized void leave() {
        print(LEAVE);
        left = true;
    }

    @Override
    public void close() {
        leave();
        try {
            Runtime.getRuntime().removeShutdownHook(restore);
        } catch (IllegalStateException e) {
            return; // that hook does it
        }
    }
}
