// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockStatus;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** All held locks whose names match, in the order of their names: all pages of the store's own order, each name once. */
final class HeldLocks {
    private static final int PAGE = 500;

    private HeldLocks() {}

    static SortedMap<String, LockStatus> read(LockAdmin admin, NamePattern pattern) throws InterruptedException {
        SortedMap<String, LockStatus> found = new TreeMap<>();
        Optional<String> cursor = Optional.empty();
        do {
            LockAdmin.Page page = OperatorCommand.await(admin.list(pattern.prefix(), PAGE, cursor));
            page.locks().stream()
                    .filter(lock -> pattern.matches(lock.name()))
                    .forEach(lock -> found.put(lock.name(), lock));
            cursor = page.next();
        } while (cursor.isPresent());
        return found;
    }
}
