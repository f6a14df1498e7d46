// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.spring.Locked;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Registers for a native image what {@link Locked} methods need: the method itself, and the properties of its parameters, which the
 * name of the lock may use.
 */
final class LockedBeanAotProcessor implements BeanRegistrationAotProcessor {
    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        if (!AnnotationUtils.isCandidateClass(type, Locked.class)) {
            return null;
        }
        Set<Method> methods = MethodIntrospector.selectMethods(
                type, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, Locked.class));
        if (methods.isEmpty()) {
            return null;
        }
        return (generation, code) -> {
            ReflectionHints hints = generation.getRuntimeHints().reflection();
            for (Method method : methods) {
                hints.registerMethod(method, ExecutableMode.INVOKE);
                for (Class<?> parameter : method.getParameterTypes()) {
                    hints.registerType(
                            parameter, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
                }
            }
        };
    }
}
