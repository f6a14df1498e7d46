// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the entry points of the backend, and its use as a test double in an application's tests. */
class MemoryLocksTest {
    /** A resource of an application, which rejects writes with an older token. */
    private static final class Ledger {
        private final List<String> lines = new ArrayList<>();
        private long highest;

        void write(String line, long token) {
            if (token < highest) {
                throw new IllegalStateException("token " + token + " is older than " + highest);
            }
            highest = token;
            lines.add(line);
        }
    }

    @Test
    void aUrlNamesAStoreThatClientsShare() throws Exception {
        try (LockClient one = Locks.connect("memory:shop", Capability.FENCING, Capability.FAIR);
                LockClient two = Locks.connect("memory:shop");
                LockClient elsewhere = Locks.connect("memory:other");
                Lease lease = one.named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(two.named("x").tryAcquire()).isEmpty();
            elsewhere.named("x").tryAcquire().orElseThrow().close();
        }
    }

    @Test
    void aUrlMustNameAStoreAndTakesNoParameters() {
        for (String url : List.of("memory:", "memory://host/x", "memory:x?lease=5s")) {
            assertThatThrownBy(() -> Locks.connect(url).close()).as(url).isInstanceOf(LockConfigurationException.class);
        }
    }

    @Test
    void aNamedStoreExistsWhileItIsReferenced() {
        MemoryStore store = MemoryStore.named("kept");
        assertThat(MemoryStore.named("kept")).isSameAs(store);
        assertThat(MemoryStore.named("kept2")).isNotSameAs(store);
        assertThat(MemoryStore.create()).isNotSameAs(MemoryStore.create());
    }

    @Test
    void tokensOfANamedStoreIncreaseEvenAfterItWasCollected() throws Exception {
        long before = tokenOfOneGrant();
        System.gc();
        assertThat(tokenOfOneGrant()).isGreaterThan(before);
    }

    private static long tokenOfOneGrant() throws InterruptedException {
        try (LockClient locks = Locks.connect("memory:short-lived");
                Lease lease = locks.named("x").acquire()) {
            return lease.fencingToken();
        }
    }

    @Test
    void anApplicationTestsExpiryWithoutSleeping() throws Exception {
        ManualClock clock = new ManualClock();
        MemoryStore store = MemoryStore.create(clock);
        ClientOptions options = ClientOptions.defaults().callbackExecutor(Runnable::run);
        try (LockClient locks = MemoryLocks.connect(store, options)) {
            Lease lease = locks.named("job").acquire();
            List<String> reported = new ArrayList<>();
            lease.lost().thenAccept(reason -> reported.add(reason.kind().toString()));
            store.faults().freeze();
            clock.advance(Duration.ofSeconds(31));
            assertThat(lease.isHeld()).isFalse();
            assertThat(reported).containsExactly("EXPIRED");
            store.faults().heal();
        }
    }

    @Test
    void anApplicationTestsThatItsResourceRejectsAStaleHolder() throws Exception {
        MemoryStore store = MemoryStore.create();
        Ledger ledger = new Ledger();
        try (LockClient one = MemoryLocks.connect(store, ClientOptions.defaults());
                LockClient two = MemoryLocks.connect(store, ClientOptions.defaults())) {
            Lease stale = one.named("ledger").acquire();
            store.faults().expireUnnoticed("ledger");
            two.named("ledger").run(lease -> ledger.write("two", lease.fencingToken()));
            assertThatThrownBy(() -> ledger.write("one", stale.fencingToken())).hasMessageContaining("older");
            assertThat(ledger.lines).containsExactly("two");
        }
    }

    @Test
    void threadsExcludeEachOtherOnTheSystemClock() throws Exception {
        MemoryStore store = MemoryStore.create();
        int[] inside = new int[2]; // threads in the body now, and executions so far; guarded by the lock under test
        try (LockClient one = MemoryLocks.connect(store, ClientOptions.defaults());
                LockClient two = MemoryLocks.connect(store, ClientOptions.defaults())) {
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 8; i++) {
                DistributedLock lock = (i % 2 == 0 ? one : two).named("x");
                threads.add(new Thread(() -> {
                    try {
                        for (int n = 0; n < 250; n++) {
                            lock.run(lease -> {
                                assertThat(++inside[0]).isEqualTo(1);
                                inside[1]++;
                                inside[0]--;
                            });
                        }
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
            assertThat(inside).containsExactly(0, 2000);
            assertThat(store.list("", 10, "")).isEmpty();
        }
    }
}
