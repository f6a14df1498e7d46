// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.time.Duration;

/** A user's program: takes a lock by each URL that it is given, all clients being open at once. */
final class LockOnce {
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(40);

    private static final ClientOptions OPTIONS = ClientOptions.defaults().connectTimeout(CONNECT_TIMEOUT);

    private LockOnce() {}

    public static void main(String[] urls) throws InterruptedException {
        lockFrom(urls, 0);
    }

    private static void lockFrom(String[] urls, int at) throws InterruptedException {
        if (at == urls.length) {
            return;
        }
        try (LockClient client = Locks.connect(urls[at], OPTIONS)) {
            try (Lease lease = client.named("consumers").acquire()) {
                lease.ensureHeld();
            }
            lockFrom(urls, at + 1);
        }
    }
}
