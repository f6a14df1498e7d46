// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.etcd.admin.EtcdRiskCheck;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the operator's functions on etcd. */
@Tag("once")
class EtcdLockAdminTest extends OneServerTest {
    private LockClient client;
    private LockAdmin admin;

    @BeforeEach
    void connect() {
        client = namespace.client();
        admin = client.admin().orElseThrow();
    }

    @AfterEach
    void close() {
        client.close();
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void S18_pagesShowEachHeldLockOnceInOrder() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (String name : List.of("p/1", "p/2", "p/3", "p/4", "p/5", "q")) {
            held.add(client.named(name).acquire());
        }
        CompletableFuture<Lease> waiting = client.named("p/2").acquireAsync();
        namespace.raw().put(namespace.name() + "another program's", "");
        namespace.raw().put(namespace.name() + "%session/of no client", "");
        Await.until(
                "the waiter is queued",
                Duration.ofSeconds(10),
                () -> namespace.queue("p/2").size() == 2);
        List<String> shown = new ArrayList<>();
        String cursor = "";
        do {
            LockAdmin.Page page = get(admin.list("p/", 2, cursor));
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(2);
            page.locks().stream().map(LockStatus::name).forEach(shown::add);
            cursor = page.next().orElse("");
        } while (!cursor.isEmpty());
        assertThat(shown).containsExactly("p/1", "p/2", "p/3", "p/4", "p/5");
        assertThat(get(admin.list("", 100, "")).locks()).hasSize(6);
        waiting.cancel(true);
        held.forEach(Lease::close);
    }

    @Test
    void S05_onlyTheHolderThatWasSeenIsReleased() throws Exception {
        Lease first = client.named("x").acquire();
        LockHolder seen = get(admin.status("x")).holders().get(0);
        assertThat(seen.token()).hasValue(first.fencingToken());
        assertThat(seen.owner()).hasValue(first.ownerId());
        first.close();
        try (Lease second = client.named("x").acquire()) {
            assertThat(get(admin.forceRelease("x", seen))).isFalse();
            assertThat(second.isHeld()).isTrue();
            LockHolder now = get(admin.status("x")).holders().get(0);
            assertThat(get(admin.forceRelease("x", now))).isTrue();
            assertThat(second.lost().get(5, TimeUnit.SECONDS)).isNotNull();
        }
        assertThat(get(admin.status("x")).holders()).isEmpty();
    }

    /** gRPC's limit for a response is 4 MiB by default, so also that of the application's client. */
    @Test
    void S18_aLongQueueIsShownAndItsHolderReleasedByAnyClient() throws Exception {
        for (int i = 0; i < 5; i++) {
            namespace.raw().put(namespace.name() + "long/" + i, "x".repeat(1_000_000));
        }
        LockStatus status = get(admin.status("long"));
        assertThat(status.waiters()).hasSize(4);
        EtcdOptions application =
                EtcdOptions.using(Client.builder().endpoints(server.endpoint()).build());
        try (Client supplied = application.settings().client().orElseThrow();
                LockClient other = EtcdLocks.connect(application.namespace(namespace.name()))) {
            LockAdmin limited = other.admin().orElseThrow();
            assertThat(get(limited.forceRelease("long", status.holders().get(0))))
                    .isTrue();
        }
    }

    @Test
    void diagnoseReportsASingleServerThatIsOpenToEveryone() throws Exception {
        String version = namespace.raw().status().version();
        List<LockAdmin.Finding> known = EtcdRiskCheck.ofMember("127.0.0.1:" + server.port(), version, true, false);
        List<LockAdmin.Finding> findings = get(admin.diagnose());
        assertThat(findings).hasSize(2 + known.size()).containsAll(known);
        assertThat(findings)
                .extracting(LockAdmin.Finding::what)
                .contains(
                        "a single server",
                        "the locks are open to everyone on this machine: no password or certificate is needed to take or"
                                + " forge them");
    }

    @Test
    void S18_keysOfOtherProgramsAreShownAsForeign() throws Exception {
        long lease = namespace.raw().grantLease(Duration.ofSeconds(60));
        String key = namespace.name() + "f/" + Long.toHexString(lease);
        namespace.raw().put(key, "", lease);
        namespace.raw().put(namespace.name() + "f/zzz", "\u001b[2J");
        LockStatus status = get(admin.status("f"));
        LockHolder holder = status.holders().get(0);
        assertThat(holder.isForeign()).isTrue();
        assertThat(holder.metadata())
                .containsEntry("client", "etcdctl lock or Go's concurrency.Mutex")
                .containsEntry("key", key)
                .containsEntry("lease", Long.toHexString(lease));
        LockHolder behind = status.waiters().get(0);
        assertThat(behind.metadata())
                .doesNotContainKey("client")
                .containsEntry("lease", "none: the key stays until it is deleted");
        assertThat(behind.raw()).isEqualTo("\u001b[2J");
        assertThat(get(admin.forceRelease("f", holder))).isTrue();
        assertThat(get(admin.status("f")).holders()).hasSize(1);
    }
}
