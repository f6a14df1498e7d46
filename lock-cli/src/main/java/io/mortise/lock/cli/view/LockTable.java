// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Formats locks as a table with one row for each holder. */
final class LockTable {
    private LockTable() {}

    static List<String> of(Collection<LockStatus> locks) {
        return of(locks, "SINCE", HolderFormat::since);
    }

    /** Formats a table that is redrawn: ages are shorter than times, and their growth shows that the table is updated. */
    static List<String> live(Collection<LockStatus> locks, Instant now) {
        return of(locks, "AGE", holder -> HolderFormat.age(holder, now));
    }

    private static List<String> of(Collection<LockStatus> locks, String timeHeader, Function<LockHolder, String> time) {
        TextTable table = new TextTable("NAME", "HOLDER", "HOST", "PID", timeHeader, "TOKEN", "WAITERS");
        for (LockStatus lock : locks) {
            for (LockHolder holder : lock.holders()) {
                table.row(
                        HolderFormat.safe(lock.name()),
                        HolderFormat.shortId(holder),
                        HolderFormat.host(holder),
                        HolderFormat.pid(holder),
                        time.apply(holder),
                        HolderFormat.token(holder),
                        Integer.toString(lock.waiters().size()));
            }
        }
        return table.lines();
    }

    static List<String> ofWaiters(List<LockHolder> waiters) {
        TextTable table = new TextTable("#", "OWNER", "HOST", "PID", "SINCE");
        for (int i = 0; i < waiters.size(); i++) {
            LockHolder waiter = waiters.get(i);
            table.row(
                    Integer.toString(i + 1),
                    HolderFormat.shortId(waiter),
                    HolderFormat.host(waiter),
                    HolderFormat.pid(waiter),
                    HolderFormat.since(waiter));
        }
        return table.lines();
    }
}
