// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the threads that the clients of one test have started, among all threads of the JVM.
 *
 * <p>The test opens and uses its clients on a thread of a thread group of its own. A new thread belongs to the group of the thread
 * that starts it.
 */
final class ClientThreadCounter {
    private final ThreadGroup group = new ThreadGroup("clients of one conformance test");
    private Set<Thread> known = Set.of();

    private ClientThreadCounter() {}

    /** A test that counts the threads of its clients. */
    interface CountingTest {
        void run(ClientThreadCounter threads) throws Exception;
    }

    /** Runs the test on a thread of a new group, and waits for its end. */
    static void run(CountingTest test) throws Exception {
        ClientThreadCounter threads = new ClientThreadCounter();
        FutureTask<@Nullable Void> task = new FutureTask<>(() -> {
            test.run(threads);
            return null;
        });
        Thread thread = new Thread(threads.group, task, ContractTestFixture.THREAD_NAME + "clients");
        thread.setDaemon(true);
        thread.start();
        try {
            task.get();
        } catch (InterruptedException e) {
            task.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Takes the threads that run now as those that a client starts once. */
    void remember() {
        known = running();
    }

    /** Returns the names of the threads that run now and did not run at {@link #remember}. */
    List<String> started() {
        Set<Thread> before = known;
        return running().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .sorted()
                .toList();
    }

    private Set<Thread> running() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> isInGroup(thread.getThreadGroup()))
                .collect(Collectors.toSet());
    }

    private boolean isInGroup(@Nullable ThreadGroup of) {
        return of != null && (of == group || group.parentOf(of));
    }
}
