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

/**
 * Injects faults during one test and undoes them when it is closed.
 *
 * <p>A fault that the backend does not support aborts the test as NOT VERIFIED.
 */
final class FaultInjector implements AutoCloseable {
    private final Faults faults;
    private final Set<FaultyLink> faultyLinks = new LinkedHashSet<>();
    private boolean delayed;
    private boolean serverStopped;

    FaultInjector(Faults faults) {
        this.faults = faults;
    }

    /** Drops all traffic of the client without closing its connections. */
    void silence(LockClient client, String rule) {
        inject(client, rule, FaultyLink::blackHole);
    }

    void cut(LockClient client, String rule) {
        inject(client, rule, FaultyLink::cut);
    }

    void dropNextReply(LockClient client, String rule) {
        inject(client, rule, FaultyLink::dropNextReply);
    }

    void delay(LockClient client, Duration oneWay, String rule) {
        inject(client, rule, link -> link.delay(oneWay));
        delayed = true;
    }

    void heal(LockClient client) {
        faults.link(client).heal();
    }

    void expireSession(LockClient client, String rule) {
        require(rule, () -> faults.expireSession(client));
    }

    void deleteGrant(String lockName, String rule) {
        require(rule, () -> faults.deleteGrant(lockName));
    }

    void stopServer(String rule) {
        serverStopped = true; // also if it fails part-way
        require(rule, () -> {
            try {
                faults.stopServer();
            } catch (UnsupportedOperationException e) {
                serverStopped = false;
                throw e;
            }
        });
    }

    void startServer(String rule) {
        require(rule, faults::startServer);
        serverStopped = false;
    }

    /** Injects a fault that the test does not depend on; returns false if the backend does not support it. */
    boolean tryInject(LockClient client, Consumer<FaultyLink> fault) {
        try {
            FaultyLink link = faults.link(client);
            faultyLinks.add(link);
            fault.accept(link);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    private void inject(LockClient client, String rule, Consumer<FaultyLink> fault) {
        FaultyLink link = require(rule, () -> faults.link(client));
        faultyLinks.add(link);
        require(rule, () -> fault.accept(link));
    }

    private static void require(String rule, Runnable fault) {
        require(rule, () -> {
            fault.run();
            return true;
        });
    }

    private static <T> T require(String rule, Supplier<T> fault) {
        try {
            return fault.get();
        } catch (UnsupportedOperationException e) {
            throw ContractTestFixture.notVerified(rule, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        List<RuntimeException> failures = new ArrayList<>();
        if (serverStopped) {
            undo(faults::startServer, failures);
        }
        for (FaultyLink link : faultyLinks) {
            undo(link::heal, failures);
            if (delayed) {
                undo(() -> link.delay(Duration.ZERO), failures);
            }
        }
        if (!failures.isEmpty()) {
            throw failures.get(0);
        }
    }

    /** Runs one step of the cleanup; a failure must not prevent the remaining steps. */
    private static void undo(Runnable step, List<RuntimeException> failures) {
        try {
            step.run();
        } catch (RuntimeException e) {
            failures.forEach(e::addSuppressed);
            failures.add(0, e);
        }
    }
}
