// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import io.mortise.lock.LeaseLock;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;

/** The lock of one name in a registry, which has its holds. A time to live counts for the first hold of a thread. */
record RegistryLock(MortiseLockRegistry registry, String name) implements DistributedLock {
    @Override
    public void lock() {
        lock(registry.options());
    }

    @Override
    public void lock(Duration ttl) {
        lock(registry.withTimeToLive(ttl));
    }

    private void lock(LockOptions options) {
        registry.holds().acquire(name, options, (LeaseLock lock) -> {
            lock.lock();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        registry.holds().acquire(name, registry.options(), (LeaseLock lock) -> {
            lock.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return registry.holds().acquire(name, registry.options(), LeaseLock::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return registry.holds().acquire(name, registry.options(), (LeaseLock lock) -> lock.tryLock(time, unit));
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        long nanos = TimeUnit.NANOSECONDS.convert(waitTime);
        return registry.holds()
                .acquire(
                        name,
                        registry.withTimeToLive(ttl),
                        (LeaseLock lock) -> lock.tryLock(nanos, TimeUnit.NANOSECONDS));
    }

    @Override
    public void unlock() {
        registry.holds().unlock(name);
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock has no conditions");
    }

    @Override
    public String toString() {
        return "lock \"" + LockName.shown(name) + "\"";
    }
}
