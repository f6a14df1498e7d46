// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one callback of several. Its failure must not keep the others, or what comes after them, from being run. */
public final class IsolatedCallback {
    private static final Logger log = LoggerFactory.getLogger(IsolatedCallback.class);

    private IsolatedCallback() {}

    /** Runs a callback, and logs any exception that it throws. */
    public static void run(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            log.error("event=ordered-callback-failed", e);
        }
    }
}
