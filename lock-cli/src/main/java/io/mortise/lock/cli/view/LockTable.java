// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Locks for people, one line for each holder. */
final class LockTable {
    private LockTable() {}

    static List<String> of(Collection<LockStatus> locks) {
        return of(locks, "SINCE", Holders::since);
    }

    /** With ages for times: shorter, and that they grow shows that the table lives. */
    static List<String> live(Collection<LockStatus> locks, Instant now) {
        return of(locks, "AGE", holder -> Holders.age(holder, now));
    }

    private static List<String> of(Collection<LockStatus> locks, String timeHeader, Function<LockHolder, String> time) {
        Table table = new Table("NAME", "HOLDER", "HOST", "PID", timeHeader, "TOKEN", "WAITERS");
        for (LockStatus lock : locks) {
            for (LockHolder holder : lock.holders()) {
                table.row(
                        Holders.safe(lock.name()),
                        Holders.briefly(holder),
                        Holders.host(holder),
                        Holders.pid(holder),
                        time.apply(holder),
                        Holders.token(holder),
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
}
