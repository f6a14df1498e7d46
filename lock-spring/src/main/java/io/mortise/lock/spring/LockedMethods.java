// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;

/** Reads each {@link Locked} once, and finds the clients of the locks. Thread-safe. */
final class LockedMethods {
    private static final String DEFAULT_MAX_WAIT = "${mortise.locked.max-wait:5s}";

    private final ConfigurableListableBeanFactory beans;
    private final Map<MethodClassKey, LockedMethod> known = new ConcurrentHashMap<>();

    LockedMethods(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    ConfigurableListableBeanFactory beans() {
        return beans;
    }

    /**
     * Returns what the annotation of the method says.
     *
     * @throws LockConfigurationException if that is invalid
     */
    LockedMethod get(Method method, Class<?> targetClass) {
        return known.computeIfAbsent(
                new MethodClassKey(method, targetClass),
                key -> LockedMethod.of(declared(method, targetClass), targetClass, this));
    }

    /** Returns the method that has the annotation, the generic types and the parameters' names. */
    private static Method declared(Method method, Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass) // another library's, as of a mapper: its own methods have none of these
                ? method
                : AopUtils.getMostSpecificMethod(method, targetClass);
    }

    /** Returns the longest wait where neither an annotation nor the application says otherwise. */
    Duration defaultMaxWait() {
        return LockedMethod.duration("mortise.locked.max-wait", resolve(DEFAULT_MAX_WAIT));
    }

    /**
     * Returns the text with the values of its placeholders.
     *
     * @throws IllegalArgumentException if one has no value
     */
    String resolve(String text) {
        String resolved = beans.resolveEmbeddedValue(text);
        if (resolved == null || (text.contains("${") && resolved.contains("${"))) {
            throw new IllegalArgumentException("\"" + text + "\" has a placeholder without a value");
        }
        return resolved;
    }

    LockClient client(LockedMethod method) {
        try {
            return method.client().isEmpty()
                    ? beans.getBeanProvider(LockClient.class).getObject()
                    : beans.getBean(method.client(), LockClient.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) { // an outage stays what it is (S15)
            String wanted =
                    method.client().isEmpty() ? "the LockClient bean" : "its LockClient \"" + method.client() + "\"";
            throw new LockConfigurationException(
                    method.description() + ": cannot get " + wanted + ": " + e.getMessage(), e);
        }
    }
}
