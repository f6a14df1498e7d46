// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether the store of a client responds: it reads the status of one lock, and acquires none. {@code UNKNOWN} if the store
 * has no administration. Thread-safe.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {
    private static final String NAME = "mortise/health";

    private final LockClient client;
    private final Duration limit;

    /** Creates an indicator for one client. */
    public LockHealthIndicator(LockClient client) {
        this(client, AdminCall.LIMIT);
    }

    LockHealthIndicator(LockClient client, Duration limit) {
        super("the store of the locks did not respond");
        this.client = client;
        this.limit = limit;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) throws Exception {
        builder.withDetail("capabilities", client.capabilities());
        Optional<LockAdmin> admin = client.admin();
        if (admin.isEmpty()) {
            builder.unknown().withDetail("reason", "the store does not support administration");
            return;
        }
        long start = System.nanoTime();
        try {
            AdminCall.await(admin.get().status(NAME), limit);
        } catch (CompletionException e) {
            if (e.getCause() instanceof BackendUnavailableException unavailable) {
                unavailable.endpoints().ifPresent(endpoints -> builder.withDetail("endpoints", endpoints));
            }
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
        builder.up().withDetail("responseMillis", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }
}
