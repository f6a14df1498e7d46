// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests that null arguments are rejected with the name of the argument, before any request is sent. Rule S14. */
class NullArgumentsTest {
    private static void assertRejected(String argument, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(argument);
    }

    @Test
    @SuppressWarnings("NullAway")
    void S14_nullArgumentsOfALockAreRejectedBeforeAnyIo() {
        ManualClock clock = new ManualClock();
        MapStore store = new MapStore(clock);
        LockClient client = BackendClients.open(
                context -> new LeaseStoreBackend(store, context),
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                clock);
        DistributedLock lock = client.named("x");
        assertRejected("name", () -> client.named(null));
        assertRejected("name", () -> client.named(null, LockOptions.defaults()));
        assertRejected("options", () -> client.named("x", null));
        assertRejected("required", () -> Locks.connect("memory:x", (Capability) null));
        assertRejected("before", () -> lock.acquireAsync().join().onExpiring(null, () -> {}));
        Lease held = client.named("y").acquireAsync().join();
        store.requests.set(0);
        assertRejected("delay", () -> held.releaseAfter(null));
        assertRejected("delay", () -> held.releaseAfterAsync(null));
        assertRejected("body", () -> lock.run(null));
        assertRejected("body", () -> lock.call(null));
        assertRejected("body", () -> lock.callAsync(null));
        assertRejected("body", () -> lock.tryRun(Duration.ZERO, null));
        assertRejected("maxWait", () -> lock.tryRun(null, lease -> {}));
        assertRejected("body", () -> lock.tryCall(Duration.ZERO, null));
        assertRejected("maxWait", () -> lock.tryCall(null, lease -> 1));
        assertRejected("maxWait", () -> lock.tryAcquire(null));
        assertRejected("maxWait", () -> lock.tryAcquireAsync(null));
        assertThat(store.requests).hasValue(0);
        client.close();
    }

    @Test
    @SuppressWarnings("NullAway")
    void S14_nullArgumentsOfAnAdminCallAreRejectedBeforeAnyIo() {
        AtomicInteger calls = new AtomicInteger();
        LockAdmin backend = (LockAdmin) Proxy.newProxyInstance(
                LockAdmin.class.getClassLoader(), new Class<?>[] {LockAdmin.class}, (proxy, method, args) -> {
                    calls.incrementAndGet();
                    throw new UnsupportedOperationException();
                });
        CoreAdmin admin = new CoreAdmin(backend, "test", new CallbackExecutor(Optional.of(Runnable::run), true));
        assertRejected("seen", () -> admin.forceRelease("x", null));
        assertRejected("name", () -> admin.forceRelease(null, null));
        assertRejected("name", () -> admin.status(null));
        assertRejected("prefix", () -> admin.list(null, 1, ""));
        assertRejected("cursor", () -> admin.list("", 1, null));
        assertThat(calls).hasValue(0);
    }
}
