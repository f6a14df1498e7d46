// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockStatus;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads all held locks whose names match a pattern, sorted by name. */
final class HeldLocksQuery {
    private static final int PAGE = 500;

    private HeldLocksQuery() {}

    /** Reads all pages; a lock that appears on two of them is returned once. */
    static SortedMap<String, LockStatus> read(LockAdmin admin, LockNamePattern pattern) throws InterruptedException {
        SortedMap<String, LockStatus> found = new TreeMap<>();
        String cursor = "";
        do {
            LockAdmin.Page page = AdminCommand.await(admin.list(pattern.prefix(), PAGE, cursor));
            page.locks().stream()
                    .filter(lock -> pattern.matches(lock.name()))
                    .forEach(lock -> found.put(lock.name(), lock));
            cursor = page.next().orElse("");
        } while (!cursor.isEmpty());
        return found;
    }
}
