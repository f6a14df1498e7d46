// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

/** What is wrong with the network of one proxy at the moment. Touched by the proxy's own thread only. */
final class ProxyFaults {
    boolean blackHole;
    boolean withholdReplies;
    boolean dropNextReply;
    long delayNanos;

    /** Ends every fault; the delay is a property of the network and stays. */
    void heal() {
        blackHole = false;
        withholdReplies = false;
        dropNextReply = false;
    }
}
