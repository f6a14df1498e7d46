// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;

/**
 * Turns on {@link Locked}, and provides a {@link LockTemplate}. For a class with {@code @Configuration}; the context needs a
 * {@link io.mortise.lock.LockClient} bean.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(LockingImportSelector.class)
@SuppressWarnings("exports") // only Spring uses the imported class
public @interface EnableLocking {
    /**
     * The default order: the lock encloses the transaction of {@code @Transactional} with the order that this has by default. The
     * asynchronous call of {@code @Async} and the attempts of Spring 7's {@code @Retryable} always enclose the lock.
     */
    int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /** The order of the lock among the advisors of a bean: advisors with a greater one run while the lock is held. */
    int order() default DEFAULT_ORDER;

    /** Whether proxies extend the bean's class even if it has interfaces; affects the other advisors of the context too. */
    boolean proxyTargetClass() default false;
}
