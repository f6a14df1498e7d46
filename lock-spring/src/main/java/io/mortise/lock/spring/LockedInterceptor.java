// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import java.lang.reflect.Method;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Runs the methods with {@link Locked} while their locks are held. Thread-safe. */
final class LockedInterceptor implements MethodInterceptor {
    private static final Logger log = LoggerFactory.getLogger(LockedInterceptor.class);

    private final LockedMethods methods;

    LockedInterceptor(LockedMethods methods) {
        this.methods = methods;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Method method = invocation.getMethod();
        Object target = invocation.getThis();
        LockedMethod locked =
                methods.get(method, target == null ? method.getDeclaringClass() : AopUtils.getTargetClass(target));
        LockClient client = methods.client(locked);
        DistributedLock lock = client.named(name(locked, invocation), locked.options());
        if (locked.returns() == ReturnKind.MONO || locked.returns() == ReturnKind.FLUX) {
            return new ReactiveLocked(client, lock, locked, (ProxyMethodInvocation) invocation).publisher();
        }
        return locked.returns() == ReturnKind.VALUE
                ? value(client, lock, locked, invocation)
                : future(client, lock, locked, invocation);
    }

    private static @Nullable Object value(
            LockClient client, DistributedLock lock, LockedMethod locked, MethodInvocation invocation)
            throws Throwable {
        HeldLock held = HeldLock.acquire(client, lock, locked.maxWait());
        return held == null
                ? skipped(locked, lock)
                : held.<Throwable>callAny(
                        lease -> invocation.proceed(), locked.method().getReturnType(), locked.description());
    }

    /** Runs a method that returns a future: what prevents that it runs fails the future, and is not thrown. */
    private static @Nullable Object future(
            LockClient client, DistributedLock lock, LockedMethod locked, MethodInvocation invocation)
            throws Throwable {
        HeldLock held;
        try {
            held = HeldLock.acquire(client, lock, locked.maxWait());
            if (held == null) {
                return skipped(locked, lock);
            }
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return held.<@Nullable Object, Throwable>callStage(lease -> stage(invocation.proceed(), locked));
    }

    /** Returns the result of a call for which the lock is busy. */
    private static @Nullable Object skipped(LockedMethod locked, DistributedLock lock) {
        logBusy(locked, lock);
        if (locked.busy() == BusyPolicy.SKIP) {
            return locked.returns().absent(locked.method(), locked.targetClass());
        }
        throw new LockBusyException(lock.name(), locked.maxWait());
    }

    private String name(LockedMethod locked, MethodInvocation invocation) {
        try {
            return locked.name()
                    .evaluate(locked.method(), invocation.getArguments(), invocation.getThis(), methods.beans());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(locked.description() + ": " + e.getMessage(), e);
        }
    }

    static void logBusy(LockedMethod locked, DistributedLock lock) {
        log.debug(
                "event=busy lock=\"{}\" policy={} method=\"{}\"",
                LockName.shown(lock.name()),
                locked.busy(),
                locked.description());
    }

    @SuppressWarnings("unchecked") // to the caller it is what the method declares
    private static CompletionStage<@Nullable Object> stage(@Nullable Object result, LockedMethod locked) {
        if (result instanceof CompletionStage<?> stage) {
            return (CompletionStage<@Nullable Object>) stage;
        }
        if (result instanceof Future<?> future) {
            return await(future);
        }
        throw new NullPointerException(locked.description() + ": the method returned null");
    }

    /**
     * Waits as the caller, the interceptor of {@code @Async}, would do next. A caller that cancels its future interrupts this
     * thread, but not the work, so the wait goes on: the lease must not end before the work.
     */
    private static CompletionStage<@Nullable Object> await(Future<?> future) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return CompletableFuture.completedFuture(future.get());
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    return CompletableFuture.failedFuture(e.getCause() == null ? e : e.getCause());
                } catch (CancellationException e) {
                    return CompletableFuture.failedFuture(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
