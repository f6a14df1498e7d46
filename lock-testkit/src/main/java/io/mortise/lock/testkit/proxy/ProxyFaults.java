// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import java.util.concurrent.atomic.AtomicBoolean;

/** Current faults of one proxy. Touched by the proxy's own thread only. */
final class ProxyFaults {
    boolean blackHole;
    boolean withholdReplies;

    /** Whether the next reply is lost; the proxies of a cluster share one, and the first reply of any is the one. */
    AtomicBoolean dropNextReply = new AtomicBoolean();

    long delayNanos;

    /** How long a target that refuses is called again, before the client is told by a reset. */
    long connectRetryNanos;

    /** Ends every fault; the delay and the connect retry are properties of the network and stay. */
    void heal() {
        blackHole = false;
        withholdReplies = false;
        dropNextReply = new AtomicBoolean();
    }
}
