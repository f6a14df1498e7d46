// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.JsonFormatter;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Prints one line for each lock that has changed since the previous poll. */
final class LockChangePrinter implements WatchView {
    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean json;
    private SortedMap<String, LockStatus> previous = new TreeMap<>();
    private boolean unavailable;

    LockChangePrinter(PrintWriter out, PrintWriter err, boolean json) {
        this.out = out;
        this.err = err;
        this.json = json;
    }

    @Override
    public boolean show(SortedMap<String, LockStatus> held) {
        if (unavailable) {
            err.println("lockctl: the store is reachable again");
            err.flush();
            unavailable = false;
        }
        TreeSet<String> names = new TreeSet<>(previous.keySet());
        names.addAll(held.keySet());
        for (String name : names) {
            LockStatus then = previous.get(name);
            LockStatus now = held.get(name);
            if (now == null) {
                print("free", new LockStatus(name, List.of(), List.of()));
            } else if (then == null || !then.holders().equals(now.holders())) {
                print("held", now);
            } else if (then.waiters().size() != now.waiters().size()) {
                print("waiters", now);
            }
        }
        previous = held;
        return !out.checkError(); // flushes; reports an error once the reader has closed the pipe
    }

    @Override
    public boolean showUnavailable(String reason) {
        if (!unavailable) {
            err.println("lockctl: " + HolderFormat.safe(reason) + "; still trying");
            err.flush();
            unavailable = true;
        }
        return !out.checkError();
    }

    private void print(String change, LockStatus lock) {
        Instant now = Instant.now();
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("time", now.toString());
            object.put("change", change);
            object.putAll(HolderFormat.json(lock));
            out.println(JsonFormatter.of(object));
            return;
        }
        StringBuilder line = new StringBuilder(HolderFormat.seconds(now))
                .append("  ")
                .append(String.format("%-7s", change))
                .append("  ")
                .append(HolderFormat.safe(lock.name()));
        for (LockHolder holder : lock.holders()) {
            line.append("  ").append(HolderFormat.summary(holder));
        }
        if (!lock.holders().isEmpty()) {
            line.append("  waiters ").append(lock.waiters().size());
        }
        out.println(line);
    }

    @Override
    public void close() {
        out.flush();
    }
}
