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
import java.util.OptionalInt;
import java.util.Set;
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
        inject(client, LinkFault.SILENCE, rule);
    }

    void cut(LockClient client, String rule) {
        inject(client, LinkFault.CUT, rule);
    }

    void dropNextReply(LockClient client, String rule) {
        inject(client, LinkFault.LOST_REPLY, rule);
    }

    void delay(LockClient client, Duration oneWay, String rule) {
        inject(client, new LinkFault.Delay(oneWay), rule);
    }

    void heal(LockClient client) {
        recorder.linkHealed(client); // before replies that were held back arrive
        faults.link(client).heal();
    }

    /** Returns the number of connections that the client has open. Aborts the test if its link does not count them. */
    int openConnections(LockClient client, String rule) {
        return require(rule, Hook.LINK, () -> faults.link(client))
                .openConnections()
                .orElseThrow(() -> RuleNotCheckedException.notVerified(
                        rule, "the FaultyLink of Faults.link counts no openConnections", Hook.LINK));
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
    boolean tryInject(LockClient client, LinkFault fault) {
        try {
            inject(client, fault);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    private void inject(LockClient client, LinkFault fault, String rule) {
        require(rule, Hook.LINK, () -> inject(client, fault));
    }

    private void inject(LockClient client, LinkFault fault) {
        FaultyLink link = faults.link(client);
        faultyLinks.add(link);
        long at = recorder.now();
        if (fault instanceof LinkFault.Outage outage) {
            outage.injection().accept(link);
            recorder.linkFault(client, outage.name(), at);
        } else if (fault instanceof LinkFault.Delay delay && !delay.oneWay().isZero()) {
            link.delay(delay.oneWay());
            delayed = true;
            recorder.linkDelay(client, delay.oneWay(), at);
        } else if (fault instanceof LinkFault.Delay) {
            recorder.linkHealed(client); // before replies that were delayed arrive
            link.delay(Duration.ZERO);
        } else {
            int before = link.droppedReplies().orElse(0);
            link.dropNextReply();
            recorder.replyDropped(client, at, () -> dropped(link, before));
        }
    }

    private static OptionalInt dropped(FaultyLink link, int before) {
        OptionalInt now = link.droppedReplies();
        return now.isPresent() ? OptionalInt.of(now.getAsInt() - before) : now;
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
