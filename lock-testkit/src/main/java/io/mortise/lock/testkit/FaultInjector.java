// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Injects the faults of one test, and heals them at its end. What the backend cannot break aborts the test as NOT VERIFIED. */
final class FaultInjector implements AutoCloseable {
    private final Faults faults;
    private final Set<FaultyLink> harmed = new LinkedHashSet<>();
    private boolean delays;
    private boolean stopped;

    FaultInjector(Faults faults) {
        this.faults = faults;
    }

    /** Nothing passes any more, and nobody is told. */
    void silence(LockClient client, String rule) {
        harm(client, rule, FaultyLink::blackHole);
    }

    void cut(LockClient client, String rule) {
        harm(client, rule, FaultyLink::cut);
    }

    void dropNextReply(LockClient client, String rule) {
        harm(client, rule, FaultyLink::dropNextReply);
    }

    void delay(LockClient client, Duration oneWay, String rule) {
        harm(client, rule, link -> link.delay(oneWay));
        delays = true;
    }

    void heal(LockClient client) {
        faults.link(client).heal();
    }

    void expireSession(LockClient client, String rule) {
        need(rule, () -> faults.expireSession(client));
    }

    void deleteGrant(String lockName, String rule) {
        need(rule, () -> faults.deleteGrant(lockName));
    }

    void stopServer(String rule) {
        stopped = true; // also if it fails half-way
        need(rule, () -> {
            try {
                faults.stopServer();
            } catch (UnsupportedOperationException e) {
                stopped = false;
                throw e;
            }
        });
    }

    void startServer(String rule) {
        need(rule, faults::startServer);
        stopped = false;
    }

    /** A fault that a test can do without. Whether it was made: false if the backend has no such fault. */
    boolean harms(LockClient client, Consumer<FaultyLink> fault) {
        try {
            FaultyLink link = faults.link(client);
            harmed.add(link);
            fault.accept(link);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    private void harm(LockClient client, String rule, Consumer<FaultyLink> fault) {
        FaultyLink link = need(rule, () -> faults.link(client));
        harmed.add(link);
        need(rule, () -> fault.accept(link));
    }

    private static void need(String rule, Runnable fault) {
        need(rule, () -> {
            fault.run();
            return true;
        });
    }

    private static <T> T need(String rule, Supplier<T> fault) {
        try {
            return fault.get();
        } catch (UnsupportedOperationException e) {
            throw ContractFixture.notVerified(rule, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        List<RuntimeException> failures = new ArrayList<>();
        if (stopped) {
            attempt(faults::startServer, failures);
        }
        for (FaultyLink link : harmed) {
            attempt(link::heal, failures);
            if (delays) {
                attempt(() -> link.delay(Duration.ZERO), failures);
            }
        }
        if (!failures.isEmpty()) {
            throw failures.get(0);
        }
    }

    /** What cannot be ended must not keep the rest from ending. */
    private static void attempt(Runnable end, List<RuntimeException> failures) {
        try {
            end.run();
        } catch (RuntimeException e) {
            failures.forEach(e::addSuppressed);
            failures.add(0, e);
        }
    }
}
