// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a Spring bean while a distributed lock is held.
 *
 * <p>{@link EnableLocking} turns it on. The lease ends when the method returns, when the returned {@code CompletionStage},
 * {@code Mono} or {@code Flux} has completed, or, inside a transaction, when the transaction has completed. If it was lost
 * before, the call fails with {@link io.mortise.lock.LeaseLostException}, and a transaction that has not committed yet is rolled
 * back (S7). {@link CurrentLease} gives the method its lease and its fencing token.
 *
 * <p>The annotation acts on calls through the bean's proxy only: not on calls from the same object, nor on private, static and
 * final methods. The start of the application fails where that can be known. It may stand on a method of the class, of a
 * superclass or of an interface, and on other annotations, whose attributes can be aliases for these.
 *
 * <p>All texts may contain placeholders such as {@code ${orders.lease}}. A mistake in an attribute stops the start (S14).
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Locked {
    /**
     * The name of the lock: a constant, or an expression in the Spring Expression Language.
     *
     * <p>It is a constant if it has only letters, digits, spaces and {@code - _ . : / ~}, apart from placeholders. Everything else is
     * an expression, such as {@code 'order/' + #order.id}. The value of a placeholder is never evaluated, so in an expression a
     * placeholder must stand in quotes. An expression may use the parameters by name or as {@code #p0}, {@code #p1}
     * …, beans such as {@code @tenants}, and {@code #root.target}, {@code #root.targetClass}, {@code #root.method} and
     * {@code #root.args}. Its value must not be null, nor an object whose text differs between processes.
     */
    String name();

    /**
     * The longest time to wait for the lock, such as {@code 500ms}, {@code 5s} or {@code PT1M}; {@code 0s} makes one attempt. Default:
     * no wait with {@link BusyPolicy#SKIP}, otherwise the property {@code mortise.locked.max-wait}, or 5 s without it.
     */
    String maxWait() default "";

    /**
     * The {@linkplain io.mortise.lock.LockOptions#leaseDuration(java.time.Duration) lease duration}, 1 s to 1 h. Default: that of the
     * backend.
     */
    String leaseDuration() default "";

    /**
     * The {@linkplain io.mortise.lock.LockOptions#maxHold(java.time.Duration) longest time} for which the lease is held; then it is
     * lost. Default: no limit.
     */
    String maxHold() default "";

    /** Decides what the call does if the lock is busy until the end of the wait. Default: it fails. */
    BusyPolicy busy() default BusyPolicy.FAIL;

    /** The name of the {@link io.mortise.lock.LockClient} bean. Default: the only or primary bean of that type. */
    String client() default "";
}
