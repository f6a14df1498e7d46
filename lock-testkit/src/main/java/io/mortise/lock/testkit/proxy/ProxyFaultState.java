// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The faults that one proxy currently applies. Used by the proxy's thread, except where stated otherwise. */
final class ProxyFaultState {
    boolean blackHole;
    boolean withholdReplies;

    /**
     * Whether to drop the next reply. The proxies of a cluster share this flag, so that only the first reply of any node is
     * dropped.
     */
    AtomicBoolean dropNextReply = new AtomicBoolean();

    /** Number of replies dropped so far; read by other threads. */
    final AtomicInteger droppedReplies = new AtomicInteger();

    long delayNanos;

    /** The time to retry a target that refuses connections before resetting the client's connection. */
    long connectRetryNanos;

    /** Ends every fault; the delay and the connect retry are properties of the network and stay. */
    void heal() {
        blackHole = false;
        withholdReplies = false;
        dropNextReply = new AtomicBoolean();
    }
}
