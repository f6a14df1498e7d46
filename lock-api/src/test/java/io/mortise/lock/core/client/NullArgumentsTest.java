// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
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

/** S14 for null: refused with the argument's name, and nothing is sent. */
class NullArgumentsTest {
    private static void refused(String argument, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(argument);
    }

    @Test
    @SuppressWarnings("NullAway")
    void S14_nullForALockIsRefusedBeforeAnyIo() {
        ManualClock clock = new ManualClock();
        MapStore store = new MapStore(clock);
        LockClient client = BackendClients.over(
                context -> new LeaseStoreBackend(store, context),
                ClientOptions.defaults().callbackExecutor(Runnable::run),
                clock);
        DistributedLock lock = client.named("x");
        refused("name", () -> client.named(null));
        refused("name", () -> client.named(null, LockOptions.defaults()));
        refused("options", () -> client.named("x", null));
        refused("required", () -> Locks.connect("memory:x", (Capability) null));
        refused("before", () -> lock.acquireAsync().join().onExpiring(null, () -> {}));
        store.requests.set(0);
        refused("body", () -> lock.run(null));
        refused("body", () -> lock.call(null));
        refused("body", () -> lock.callAsync(null));
        refused("body", () -> lock.tryRun(Duration.ZERO, null));
        refused("maxWait", () -> lock.tryRun(null, lease -> {}));
        refused("body", () -> lock.tryCall(Duration.ZERO, null));
        refused("maxWait", () -> lock.tryCall(null, lease -> 1));
        refused("maxWait", () -> lock.tryAcquire(null));
        refused("maxWait", () -> lock.tryAcquireAsync(null));
        assertThat(store.requests).hasValue(0);
        client.close();
    }

    @Test
    @SuppressWarnings("NullAway")
    void S14_nullForAnOperatorsCommandIsRefusedBeforeAnyIo() {
        AtomicInteger asked = new AtomicInteger();
        LockAdmin backend = (LockAdmin) Proxy.newProxyInstance(
                LockAdmin.class.getClassLoader(), new Class<?>[] {LockAdmin.class}, (proxy, method, args) -> {
                    asked.incrementAndGet();
                    throw new UnsupportedOperationException();
                });
        CoreAdmin admin = new CoreAdmin(backend, "test", new CallbackExecutor(Optional.of(Runnable::run), true));
        refused("seen", () -> admin.forceRelease("x", null));
        refused("name", () -> admin.forceRelease(null, null));
        refused("name", () -> admin.status(null));
        refused("prefix", () -> admin.list(null, 1, ""));
        refused("cursor", () -> admin.list("", 1, null));
        assertThat(asked).hasValue(0);
    }
}
