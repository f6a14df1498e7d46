// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockStatus;
import java.util.SortedMap;

/** Displays the held locks after each poll of {@code lockctl watch}, as a table or as a list of changes. */
interface WatchView extends AutoCloseable {
    /**
     * Shows the result of one poll.
     *
     * @param held all held locks, by name
     * @return whether the output still has a reader
     */
    boolean show(SortedMap<String, LockStatus> held);

    /**
     * Shows that the store could not be reached.
     *
     * @return whether the output still has a reader
     */
    boolean showUnavailable(String reason);

    @Override
    void close();
}
