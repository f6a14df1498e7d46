// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.proxy.FaultyLink;
import io.mortise.lock.testkit.report.Hook;
import io.mortise.lock.testkit.report.RuleNotCheckedException;
import io.mortise.lock.testkit.report.TestRecorder;
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
    private final TestRecorder recorder;
    private final Set<FaultyLink> faultyLinks = new LinkedHashSet<>();
    private boolean delayed;
    private boolean serverStopped;

    FaultInjector(Faults faults, TestRecorder recorder) {
        this.faults = faults;
        this.recorder = recorder;
    }

    /** Drops all traffic of the client without closing its connections. */
    void silence(LockClient client, String rule) {
        long at = recorder.now();
        inject(client, rule, FaultyLink::blackHole);
        recorder.linkFault(client, "silence", at);
    }

    void cut(LockClient client, String rule) {
        long at = recorder.now();
        inject(client, rule, FaultyLink::cut);
        recorder.linkFault(client, "cut", at);
    }

    void dropNextReply(LockClient client, String rule) {
        long at = recorder.now();
        inject(client, rule, FaultyLink::dropNextReply);
        recorder.replyDropped(client, at);
    }

    void delay(LockClient client, Duration oneWay, String rule) {
        long at = recorder.now();
        inject(client, rule, link -> link.delay(oneWay));
        recorder.linkDelay(client, oneWay, at);
        delayed = true;
    }

    void heal(LockClient client) {
        recorder.linkHealed(client); // before replies that were held back arrive
        faults.link(client).heal();
    }

    /** Returns the number of connections that the client has open. Aborts the test if its link does not count them. */
    int openConnections(LockClient client, String rule) {
        return require(rule, Hook.LINK, () -> faults.link(client))
                .openConnections()
                .orElseThrow(() -> RuleNotCheckedException.notApplicable("the link of a client counts no connections"));
    }

    void expireSession(LockClient client, String rule) {
        require(rule, Hook.EXPIRE_SESSION, () -> recorder.expireSession(client, () -> faults.expireSession(client)));
    }

    void deleteGrant(String lockName, String rule) {
        require(rule, Hook.DELETE_GRANT, () -> recorder.deleteGrant(lockName, () -> faults.deleteGrant(lockName)));
    }

    /** Deletes the grant; returns false if the backend does not support it. */
    boolean tryDeleteGrant(String lockName) {
        try {
            recorder.deleteGrant(lockName, () -> faults.deleteGrant(lockName));
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    void stopServer(String rule) {
        serverStopped = true; // also if it fails part-way
        long at = recorder.now();
        require(rule, Hook.STOP_SERVER, () -> {
            try {
                faults.stopServer();
                recorder.serverStopped(at);
            } catch (UnsupportedOperationException e) {
                serverStopped = false;
                throw e;
            }
        });
    }

    void startServer(String rule) {
        recorder.serverStarting();
        require(rule, Hook.STOP_SERVER, faults::startServer);
        serverStopped = false;
    }

    /** Injects a fault that the test does not depend on; returns false if the backend does not support it. */
    boolean tryInject(LockClient client, Consumer<FaultyLink> fault) {
        try {
            FaultyLink link = faults.link(client);
            faultyLinks.add(link);
            long at = recorder.now();
            fault.accept(link);
            recorder.otherLinkFault(client, at);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    private void inject(LockClient client, String rule, Consumer<FaultyLink> fault) {
        FaultyLink link = require(rule, Hook.LINK, () -> faults.link(client));
        faultyLinks.add(link);
        require(rule, Hook.LINK, () -> fault.accept(link));
    }

    private static void require(String rule, Hook hook, Runnable fault) {
        require(rule, hook, () -> {
            fault.run();
            return true;
        });
    }

    private static <T> T require(String rule, Hook hook, Supplier<T> fault) {
        try {
            return fault.get();
        } catch (UnsupportedOperationException e) {
            throw RuleNotCheckedException.notVerified(rule, String.valueOf(e.getMessage()), hook);
        }
    }

    @Override
    public void close() {
        recorder.allHealed();
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
