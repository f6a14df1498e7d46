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

/** With {@code etcdctl lock}, and so with Go's {@code concurrency.Mutex}, which it is made of. */
@Tag("once")
class EtcdctlTest extends OneServerTest {
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void endProcesses() {
        processes.forEach(Process::destroyForcibly);
    }

    /** Holds until it is told to end. */
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

    /** It says so; one that is ended between its turn and that may leave its key until its lease ends. */
    private static void awaitHolds(Process etcdctl) {
        assertTimeoutPreemptively(
                SOON, () -> assertThat(etcdctl.getInputStream().read()).isPositive());
    }

    private static void end(Process etcdctl) throws Exception {
        // Not Process.destroy: that closes its output too, and it dies of what it still writes, with its key in place.
        etcdctl.toHandle().destroy();
        if (!etcdctl.waitFor(5, TimeUnit.SECONDS)) {
            etcdctl.destroyForcibly();
        }
    }

    private void awaitLine(String lock, int length) {
        Await.until(
                length + " stand in the queue",
                SOON,
                () -> namespace.queue(lock).size() == length);
    }

    @Test
    void S01_S11_itExcludesUsAndItsReleaseWakesUs() throws Exception {
        try (LockClient client = namespace.client()) {
            Process etcdctl = etcdctl("x");
            awaitHolds(etcdctl);
            assertThat(client.named("x").tryAcquire()).isEmpty();
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            awaitLine("x", 2);
            assertThat(waiting).isNotDone();
            long start = System.nanoTime();
            end(etcdctl);
            waiting.get(5, TimeUnit.SECONDS).close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
        }
    }

    @Test
    void S01_S11_weExcludeItAndOurReleaseWakesIt() throws Exception {
        try (LockClient client = namespace.client()) {
            Lease held = client.named("x").acquire();
            long ours = held.fencingToken();
            Process etcdctl = etcdctl("x");
            awaitLine("x", 2);
            assertThat(namespace.queue("x").get(0).createRevision()).isEqualTo(ours);
            held.close();
            CompletableFuture<Lease> next = client.named("x").acquireAsync();
            awaitLine("x", 2);
            assertThat(namespace.queue("x").get(0).value()).as("etcdctl's").isEmpty();
            awaitHolds(etcdctl);
            assertThat(next).isNotDone();
            end(etcdctl);
            next.get(5, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S18_itIsShownAsForeign() throws Exception {
        try (LockClient client = namespace.client()) {
            Process etcdctl = etcdctl("x");
            awaitHolds(etcdctl);
            LockStatus status = client.admin()
                    .orElseThrow()
                    .status("x")
                    .toCompletableFuture()
                    .get(5, TimeUnit.SECONDS);
            assertThat(status.holders()).singleElement().satisfies(holder -> {
                assertThat(holder.foreign()).isTrue();
                assertThat(holder.token()).hasValue(namespace.queue("x").get(0).createRevision());
            });
            end(etcdctl);
        }
    }

    /** Their names need not begin as ours do by default. */
    @Test
    void S01_S13_withoutANamespaceTheirNameIsOurs() throws Exception {
        try (LockClient client = Locks.connect(server.url() + "?namespace=")) {
            DistributedLock lock = client.named("nightly");
            Process etcdctl = etcdctlOfAnyName("nightly");
            awaitHolds(etcdctl);
            assertThat(lock.tryAcquire()).isEmpty();
            end(etcdctl);
            lock.tryAcquire(Duration.ofSeconds(5)).orElseThrow().close();
        }
    }

    /** A slash in a name makes no hierarchy, as it does for etcdctl. */
    @Test
    void S13_aLockDoesNotWaitForThoseWhoseNamesBeginWithItsOwn() throws Exception {
        try (LockClient client = namespace.client();
                Lease below = client.named("inventory/42").acquire()) {
            assertThat(client.named("inventory").tryAcquire()).hasValueSatisfying(Lease::close);
            assertThat(below.isHeld()).isTrue();
            assertThat(namespace.queue("inventory/42").get(0).key()).startsWith(namespace.name() + "inventory%2F42/");
        }
    }
}
