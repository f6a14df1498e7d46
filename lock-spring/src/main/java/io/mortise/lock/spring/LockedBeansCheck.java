// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Checks each {@link Locked} method of the context when it starts: its attributes, and that the bean's proxy can and does apply the
 * lock. What cannot be known yet, of lazy and prototype beans, fails or is checked with the first call.
 *
 * <p>A registry post-processor runs before all other post-processors, so it sees which beans Spring creates, even too early. An object
 * that a test puts in the place of a bean later, such as a mock, is not created by Spring: it has no proxy on purpose.
 */
final class LockedBeansCheck implements SmartInitializingSingleton, BeanDefinitionRegistryPostProcessor {
    private static final String SPRING_RETRY = "org.springframework.retry.";

    /** The criteria by which Spring chooses among several beans of a type, in their order. */
    private static final List<Predicate<RootBeanDefinition>> PREFERENCES = List.of(
            RootBeanDefinition::isAutowireCandidate,
            RootBeanDefinition::isPrimary,
            bean -> !bean.isFallback(),
            RootBeanDefinition::isDefaultCandidate);

    private final LockedMethods methods;
    private final ConfigurableListableBeanFactory beans;
    private final Set<String> created = ConcurrentHashMap.newKeySet();

    LockedBeansCheck(LockedMethods methods, ConfigurableListableBeanFactory beans) {
        this.methods = methods;
        this.beans = beans;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        created.addAll(List.of(beans.getSingletonNames()));
        beans.addBeanPostProcessor(new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String beanName) {
                created.add(beanName);
                return bean;
            }
        });
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {}

    /** @throws LockConfigurationException for the first method that is wrong, with the bean, the method and what to do */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = isReplaced(name) ? null : AutoProxyUtils.determineTargetClass(beans, name);
            if (type != null
                    && !type.getName().startsWith("org.springframework.")
                    && AnnotationUtils.isCandidateClass(type, Locked.class)) {
                Class<?> userClass = ClassUtils.getUserClass(type);
                MethodIntrospector.selectMethods(
                                userClass, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, Locked.class))
                        .forEach(method -> check(method, userClass, name));
            }
        }
    }

    /** Returns whether the bean is an object that was registered, although there is a definition to create it by. */
    private boolean isReplaced(String name) {
        return beans.containsBeanDefinition(name) && beans.containsSingleton(name) && !created.contains(name);
    }

    private void check(Method method, Class<?> type, String beanName) {
        LockedMethod locked = methods.get(method, type);
        if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
            throw wrong(
                    locked,
                    beanName,
                    "a proxy cannot intercept static and private methods: make it an instance method "
                            + "that is not private");
        }
        checkClient(locked);
        Object bean = bean(beanName);
        boolean interfaceProxy = bean == null ? type.getInterfaces().length > 0 : AopUtils.isJdkDynamicProxy(bean);
        if (Modifier.isFinal(method.getModifiers()) && !interfaceProxy) {
            throw wrong(
                    locked, beanName, "a proxy cannot intercept final methods: remove final (Kotlin: make it open)");
        }
        if (bean != null) {
            checkProxy(locked, bean, beanName);
        }
    }

    /** Returns the bean if it exists already and its own proxy can be examined. */
    private @Nullable Object bean(String name) {
        Object singleton = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
        return singleton instanceof FactoryBean || singleton instanceof ScopedObject ? null : singleton;
    }

    private void checkProxy(LockedMethod locked, Object bean, String beanName) {
        Advised proxy = lockingProxy(bean);
        if (proxy == null) {
            throw wrong(
                    locked,
                    beanName,
                    "the bean has no proxy that applies the lock. It was probably created before the "
                            + "proxies, because a BeanPostProcessor or another infrastructure bean depends on it, or as an early "
                            + "reference in a circular dependency; see the log of BeanPostProcessorChecker");
        }
        try {
            AopUtils.selectInvocableMethod(locked.method(), bean.getClass());
        } catch (IllegalStateException e) {
            throw wrong(
                    locked,
                    beanName,
                    "the proxy implements the interfaces of the bean only, and none has the method: add "
                            + "it to one, or use @EnableLocking(proxyTargetClass = true)");
        }
        List<Advisor> advisors = List.of(proxy.getAdvisors());
        int lock = advisors.indexOf(lockAdvisor(proxy));
        for (Advisor advisor : advisors.subList(lock + 1, advisors.size())) {
            if (isRetry(advisor) && applies(advisor, locked.method(), AopUtils.getTargetClass(bean))) {
                throw wrong(
                        locked,
                        beanName,
                        "spring-retry would repeat the method under one lease: use "
                                + "@EnableRetry(order = EnableLocking.DEFAULT_ORDER - 1), so that each attempt takes a new one");
            }
        }
    }

    /** Returns the proxy with the lock's advisor: the bean, or one that it wraps. */
    private static @Nullable Advised lockingProxy(@Nullable Object bean) {
        for (Object each = bean; each instanceof Advised proxy; each = AopProxyUtils.getSingletonTarget(proxy)) {
            if (lockAdvisor(proxy) != null) {
                return proxy;
            }
        }
        return null;
    }

    private static @Nullable Advisor lockAdvisor(Advised proxy) {
        for (Advisor advisor : proxy.getAdvisors()) {
            if (advisor.getAdvice() instanceof LockedInterceptor) {
                return advisor;
            }
        }
        return null;
    }

    private static boolean isRetry(Advisor advisor) {
        return advisor.getAdvice().getClass().getName().startsWith(SPRING_RETRY);
    }

    private static boolean applies(Advisor advisor, Method method, Class<?> type) {
        return advisor instanceof PointcutAdvisor with
                && with.getPointcut().getMethodMatcher().matches(method, type);
    }

    /** Checks that there is a client, and that it accepts the options of the lock. Does not create a lazy client. */
    private void checkClient(LockedMethod locked) {
        String client = client(locked);
        if (client != null && beans.containsBeanDefinition(client) && !beans.containsSingleton(client)) {
            return;
        }
        try {
            methods.client(locked).named(locked.name().constant().orElse("name"), locked.options());
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(locked.description() + ": " + e.getMessage(), e);
        }
    }

    /** Returns the name of the client that Spring would choose, without creating any; null if it would choose none of this context. */
    private @Nullable String client(LockedMethod locked) {
        if (!locked.client().isEmpty()) {
            return locked.client();
        }
        List<String> names = List.of(beans.getBeanNamesForType(LockClient.class, true, false));
        for (Predicate<RootBeanDefinition> preference : PREFERENCES) {
            List<String> preferred = names.stream()
                    .filter(name -> preference.test(definition(name)))
                    .toList();
            names = preferred.isEmpty() ? names : preferred;
        }
        return names.size() == 1 ? names.get(0) : null;
    }

    private RootBeanDefinition definition(String name) {
        return beans.containsBeanDefinition(name)
                        && beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition
                ? definition
                : new RootBeanDefinition(); // of an object that was registered
    }

    private static LockConfigurationException wrong(LockedMethod locked, String beanName, String problem) {
        return new LockConfigurationException(locked.description() + " (bean \"" + beanName + "\"): " + problem);
    }
}
