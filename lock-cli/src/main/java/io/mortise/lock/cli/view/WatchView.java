// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockStatus;
import java.util.SortedMap;

/** View of {@code lockctl watch}: shows the held locks after each read, as a table or as changes. */
interface WatchView extends AutoCloseable {
    /** All held locks, by name. False: nobody reads it any more. */
    boolean show(SortedMap<String, LockStatus> held);

    /** The store did not answer. False: nobody reads it any more. */
    boolean unavailable(String why);

    @Override
    void close();
}
