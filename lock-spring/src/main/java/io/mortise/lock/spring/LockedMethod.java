// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.support.DurationParser;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The attributes of one {@link Locked} method, checked and with their placeholders resolved.
 *
 * @param method the annotated method
 * @param targetClass the class of the bean
 * @param description the annotation and the method, for messages
 * @param name the name of the lock
 * @param maxWait the longest time to wait; zero for one attempt
 * @param options the options of the leases
 * @param busy what happens if the lock is busy
 * @param client the name of the client bean; empty for the only one
 * @param returns what kind of result the method has
 */
record LockedMethod(
        Method method,
        Class<?> targetClass,
        String description,
        LockNameExpression name,
        Duration maxWait,
        LockOptions options,
        BusyPolicy busy,
        String client,
        ReturnKind returns) {

    /**
     * Reads the annotation of a method.
     *
     * @param targetClass the class of the bean
     * @throws LockConfigurationException if it is invalid, with the method and the attribute
     */
    static LockedMethod of(Method method, Class<?> targetClass, LockedMethods texts) {
        Locked locked = Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method, Locked.class));
        String description = "@Locked on " + method.getDeclaringClass().getSimpleName() + "." + method.getName();
        try {
            ReturnKind returns = ReturnKind.of(method, targetClass, locked.busy());
            return new LockedMethod(
                    method,
                    targetClass,
                    description,
                    LockNameExpression.of(locked.name(), method, texts::resolve),
                    maxWait(locked, texts),
                    options(locked, texts),
                    locked.busy(),
                    texts.resolve(locked.client()),
                    returns);
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(description + ": " + e.getMessage(), e);
        }
    }

    private static Duration maxWait(Locked locked, LockedMethods texts) {
        if (!locked.maxWait().isEmpty()) {
            return duration("maxWait", texts.resolve(locked.maxWait()));
        }
        // A job that waits for its turn runs a second time: to skip it means not to wait.
        return locked.busy() == BusyPolicy.SKIP ? Duration.ZERO : texts.defaultMaxWait();
    }

    private static LockOptions options(Locked locked, LockedMethods texts) {
        LockOptions options = LockOptions.defaults();
        if (!locked.leaseDuration().isEmpty()) {
            options = options.leaseDuration(duration("leaseDuration", texts.resolve(locked.leaseDuration())));
        }
        if (!locked.maxHold().isEmpty()) {
            options = options.maxHold(duration("maxHold", texts.resolve(locked.maxHold())));
        }
        return options;
    }

    static Duration duration(String attribute, String text) {
        try {
            return DurationParser.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(attribute + " is \"" + text + "\", must be " + e.getMessage(), e);
        }
    }
}
