// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import java.lang.reflect.Method;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/** Selects the methods with {@link Locked}. */
final class LockedPointcut extends StaticMethodMatcherPointcut {
    LockedPointcut() {
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, Locked.class));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return AnnotatedElementUtils.hasAnnotation(AopUtils.getMostSpecificMethod(method, targetClass), Locked.class);
    }
}
