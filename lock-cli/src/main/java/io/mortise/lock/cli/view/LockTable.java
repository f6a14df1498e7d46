// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.util.Collection;
import java.util.List;

/** Locks for people, one line for each holder. */
final class LockTable {
    private LockTable() {}

    static List<String> of(Collection<LockStatus> locks) {
        Table table = new Table("NAME", "HOLDER", "HOST", "PID", "SINCE", "TOKEN", "WAITERS");
        for (LockStatus lock : locks) {
            for (LockHolder holder : lock.holders()) {
                row(
                        table,
                        Holders.safe(lock.name()),
                        holder,
                        Integer.toString(lock.waiters().size()));
            }
        }
        return table.lines();
    }

    static List<String> ofWaiters(List<LockHolder> waiters) {
        Table table = new Table("#", "OWNER", "HOST", "PID", "SINCE");
        for (int i = 0; i < waiters.size(); i++) {
            LockHolder waiter = waiters.get(i);
            table.row(
                    Integer.toString(i + 1),
                    Holders.briefly(waiter),
                    Holders.host(waiter),
                    Holders.pid(waiter),
                    Holders.since(waiter));
        }
        return table.lines();
    }

    private static void row(Table table, String name, LockHolder holder, String waiters) {
        table.row(
                name,
                Holders.briefly(holder),
                Holders.host(holder),
                Holders.pid(holder),
                Holders.since(holder),
                Holders.token(holder),
                waiters);
    }
}
