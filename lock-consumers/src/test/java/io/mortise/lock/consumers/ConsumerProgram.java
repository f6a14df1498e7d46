// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.time.Duration;

/** The main class of the consumer projects, which acquires one lock on each of the given backend URLs. */
final class ConsumerProgram {
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(40);

    private static final ClientOptions OPTIONS = ClientOptions.defaults().connectTimeout(CONNECT_TIMEOUT);

    private ConsumerProgram() {}

    public static void main(String[] urls) throws InterruptedException {
        lockFrom(urls, 0);
    }

    /** Acquires a lock on each URL from this index on. All clients are open at the same time, which the recursion ensures. */
    private static void lockFrom(String[] urls, int index) throws InterruptedException {
        if (index == urls.length) {
            return;
        }
        try (LockClient client = Locks.connect(urls[index], OPTIONS)) {
            try (Lease lease = client.named("consumers").acquire()) {
                lease.ensureHeld();
            }
            lockFrom(urls, index + 1);
        }
    }
}
