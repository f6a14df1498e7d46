// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests mutual exclusion with {@code etcdctl lock}, which is built on Go's {@code concurrency.Mutex}. */
@Tag("once")
class EtcdctlTest extends OneServerTest {
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void endProcesses() {
        processes.forEach(Process::destroyForcibly);
    }

    /** Starts a process that holds the lock until it is terminated. */
    private Process etcdctl(String lock) throws IOException {
        return etcdctlOfAnyName(namespace.name() + lock);
    }

    private Process etcdctlOfAnyName(String name) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("etcdctl", "--endpoints", server.endpoint(), "lock", name);
        builder.environment().put("ETCDCTL_API", "3");
        Process started = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        processes.add(started);
        return started;
    }

    /**
     * Waits until the process prints that it holds the lock. A process that is terminated between its grant and that output
     * may leave its key until its lease ends.
     */
    private static void awaitHolds(Process etcdctl) {
        assertTimeoutPreemptively(
                SOON, () -> assertThat(etcdctl.getInputStream().read()).isPositive());
    }

    private static void end(Process etcdctl) throws Exception {
        // Not Process.destroy: it also closes the output, and the process would die of its next write and leave its
        // key.
        etcdctl.toHandle().destroy();
        if (!etcdctl.waitFor(5, TimeUnit.SECONDS)) {
            etcdctl.destroyForcibly();
        }
    }

    private void awaitQueueLength(String lock, int length) {
        Await.until(
                length + " contenders are queued",
                SOON,
                () -> namespace.queue(lock).size() == length);
    }

    @Test
    void S01_S11_etcdctlExcludesAClientAndItsReleaseWakesTheClient() throws Exception {
        try (LockClient client = namespace.client()) {
            Process etcdctl = etcdctl("x");
            awaitHolds(etcdctl);
            assertThat(client.named("x").tryAcquire()).isEmpty();
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            awaitQueueLength("x", 2);
            assertThat(waiting).isNotDone();
            long start = System.nanoTime();
            end(etcdctl);
            waiting.get(5, TimeUnit.SECONDS).close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
        }
    }

    @Test
    void S01_S11_aClientExcludesEtcdctlAndItsReleaseWakesEtcdctl() throws Exception {
        try (LockClient client = namespace.client()) {
            Lease held = client.named("x").acquire();
            long ownToken = held.fencingToken();
            Process etcdctl = etcdctl("x");
            awaitQueueLength("x", 2);
            assertThat(namespace.queue("x").get(0).createRevision()).isEqualTo(ownToken);
            held.close();
            CompletableFuture<Lease> next = client.named("x").acquireAsync();
            awaitQueueLength("x", 2);
            assertThat(namespace.queue("x").get(0).value()).as("etcdctl's").isEmpty();
            awaitHolds(etcdctl);
            assertThat(next).isNotDone();
            end(etcdctl);
            next.get(5, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S18_etcdctlIsShownAsForeign() throws Exception {
        try (LockClient client = namespace.client()) {
            Process etcdctl = etcdctl("x");
            awaitHolds(etcdctl);
            LockStatus status = client.admin()
                    .orElseThrow()
                    .status("x")
                    .toCompletableFuture()
                    .get(5, TimeUnit.SECONDS);
            assertThat(status.holders()).singleElement().satisfies(holder -> {
                assertThat(holder.isForeign()).isTrue();
                assertThat(holder.token()).hasValue(namespace.queue("x").get(0).createRevision());
            });
            end(etcdctl);
        }
    }

    /** Lock names of etcdctl need not start with Mortise's default namespace. */
    @Test
    void S01_S13_withoutANamespaceTheLockNamesAreThoseOfEtcdctl() throws Exception {
        try (LockClient client = Locks.connect(server.url() + "?namespace=")) {
            DistributedLock lock = client.named("nightly");
            Process etcdctl = etcdctlOfAnyName("nightly");
            awaitHolds(etcdctl);
            assertThat(lock.tryAcquire()).isEmpty();
            end(etcdctl);
            lock.tryAcquire(Duration.ofSeconds(5)).orElseThrow().close();
        }
    }

    /** A slash in a name creates no hierarchy, unlike in etcdctl. */
    @Test
    void S13_aLockDoesNotWaitForLocksWhoseNamesStartWithItsOwn() throws Exception {
        try (LockClient client = namespace.client();
                Lease below = client.named("inventory/42").acquire()) {
            assertThat(client.named("inventory").tryAcquire()).hasValueSatisfying(Lease::close);
            assertThat(below.isHeld()).isTrue();
            assertThat(namespace.queue("inventory/42").get(0).key()).startsWith(namespace.name() + "inventory%2F42/");
        }
    }
}
