// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.OptionalLong;

/** A grant that a competitor holds. Released once, by the thread that acquired it, since some peers ask for that. */
public interface HeldGrant {
    /** What must rise from grant to grant of a lock; empty where the competitor has no such number. */
    OptionalLong token();

    /** Releases and waits until the store has answered. */
    void release() throws Exception;

    /** Releases without waiting for the answer. A competitor that cannot do that waits. */
    void releaseAsync() throws Exception;
}
