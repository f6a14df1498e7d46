// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** A Spring context with a client of a memory store, and a second client as another process. */
final class LockContext implements AutoCloseable {
    @Configuration(proxyBeanMethods = false)
    @EnableLocking
    static class Locking {}

    private final MemoryStore store = MemoryStore.create();
    private final LockClient other = MemoryLocks.connect(store, ClientOptions.defaults());
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private LockContext(Map<String, Object> properties, Class<?>... configuration) {
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        context.registerBean("client", LockClient.class, () -> MemoryLocks.connect(store, ClientOptions.defaults()));
        if (configuration.length > 0) {
            context.register(configuration);
        }
    }

    private LockContext refresh() {
        try {
            context.refresh();
        } catch (Throwable e) {
            close();
            throw e;
        }
        return this;
    }

    /** Starts a context with @EnableLocking and the classes. */
    static LockContext start(Class<?>... configuration) {
        return start(Map.of(), configuration);
    }

    static LockContext start(Map<String, Object> properties, Class<?>... configuration) {
        LockContext started = new LockContext(properties, configuration);
        started.context.register(Locking.class);
        return started.refresh();
    }

    /** Starts a context with @EnableLocking, whose parent is the other one. */
    static LockContext startUnder(ApplicationContext parent, Class<?>... configuration) {
        LockContext started = new LockContext(Map.of(), configuration);
        started.context.setParent(parent);
        started.context.register(Locking.class);
        return started.refresh();
    }

    /** Starts a context with the classes, one of which has its own @EnableLocking. */
    static LockContext startAlone(Class<?>... configuration) {
        return new LockContext(Map.of(), configuration).refresh();
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    AnnotationConfigApplicationContext context() {
        return context;
    }

    /** Acquires the lock as another process. */
    Lease acquireElsewhere(String name) {
        return tryElsewhere(name).orElseThrow(() -> new AssertionError(name + " is busy"));
    }

    /** Returns whether another process could acquire the lock now. */
    boolean isFree(String name) {
        Optional<Lease> lease = tryElsewhere(name);
        lease.ifPresent(Lease::release);
        return lease.isPresent();
    }

    private Optional<Lease> tryElsewhere(String name) {
        try {
            return other.named(name).tryAcquire(Duration.ZERO);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    LockClient other() {
        return other;
    }

    /** Ends the lease of whoever holds the lock; the holder is notified at once. */
    void lose(String name) {
        if (!store.faults().remove(name)) {
            throw new AssertionError("nobody holds " + name);
        }
    }

    /** Ends the lease of whoever holds the lock; the holder notices it by the next reply, which takes a while. */
    void loseUnnoticed(String name) {
        store.faults().delayReplies(Duration.ofMillis(100));
        if (!store.faults().expireUnnoticed(name)) {
            throw new AssertionError("nobody holds " + name);
        }
    }

    @Override
    public void close() {
        context.close();
        other.close();
    }
}
