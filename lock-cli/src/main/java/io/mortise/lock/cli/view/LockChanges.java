// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.JsonText;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Prints one line for each lock that has changed since the last read. */
final class LockChanges implements WatchView {
    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean json;
    private SortedMap<String, LockStatus> before = new TreeMap<>();
    private boolean lost;

    LockChanges(PrintWriter out, PrintWriter err, boolean json) {
        this.out = out;
        this.err = err;
        this.json = json;
    }

    @Override
    public boolean show(SortedMap<String, LockStatus> held) {
        if (lost) {
            err.println("lockctl: the store answers again");
            err.flush();
            lost = false;
        }
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(held.keySet());
        for (String name : names) {
            LockStatus then = before.get(name);
            LockStatus now = held.get(name);
            if (now == null) {
                print("free", new LockStatus(name, List.of(), List.of()));
            } else if (then == null || !then.holders().equals(now.holders())) {
                print("held", now);
            } else if (then.waiters().size() != now.waiters().size()) {
                print("waiters", now);
            }
        }
        before = held;
        return !out.checkError(); // flushes; true once nobody reads the pipe any more
    }

    @Override
    public boolean unavailable(String why) {
        if (!lost) {
            err.println("lockctl: " + HolderFormat.safe(why) + "; still trying");
            err.flush();
            lost = true;
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
            out.println(JsonText.of(object));
            return;
        }
        StringBuilder line = new StringBuilder(HolderFormat.seconds(now))
                .append("  ")
                .append(String.format("%-7s", change))
                .append("  ")
                .append(HolderFormat.safe(lock.name()));
        for (LockHolder holder : lock.holders()) {
            line.append("  ").append(HolderFormat.inALine(holder));
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
