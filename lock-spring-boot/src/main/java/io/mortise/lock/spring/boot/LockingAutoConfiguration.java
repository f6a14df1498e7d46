// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.LockClient;
import io.mortise.lock.spring.EnableLocking;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration of {@link io.mortise.lock.spring.Locked}, of the {@link io.mortise.lock.spring.LockTemplate}, and of the order of
 * the shutdown. Needs a {@link LockClient}.
 */
@AutoConfiguration(after = LockClientAutoConfiguration.class)
@ConditionalOnBean(LockClient.class)
public final class LockingAutoConfiguration {
    /** Quartz's scheduler, which is neither of Spring's types. */
    static final String QUARTZ = "org.quartz.Scheduler";

    /** Creates the configuration; called by Spring. */
    LockingAutoConfiguration() {}

    /**
     * Has the context close its clients after the executors and schedulers that may run locked work (S16). They end what they run
     * either in their phase, which precedes the destruction of all beans, or when they are destroyed.
     */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static SmartInitializingSingleton mortiseShutdownOrder(ConfigurableListableBeanFactory beans) {
        return () -> {
            for (String client : beans.getBeanNamesForType(LockClient.class, false, false)) {
                Set<String> needed = new HashSet<>();
                addNeeded(client, beans, needed);
                for (Class<?> type : workers(beans.getBeanClassLoader())) {
                    for (String worker : beans.getBeanNamesForType(type, false, false)) {
                        if (!needed.contains(worker)) {
                            beans.registerDependentBean(client, worker);
                        }
                    }
                }
            }
        };
    }

    /** Adds the bean and all that it depends on, such as the executor of the client's connection, which is destroyed later. */
    private static void addNeeded(String bean, ConfigurableListableBeanFactory beans, Set<String> needed) {
        if (needed.add(bean)) {
            for (String dependency : beans.getDependenciesForBean(bean)) {
                addNeeded(dependency, beans, needed);
            }
        }
    }

    private static List<Class<?>> workers(@Nullable ClassLoader loader) {
        return ClassUtils.isPresent(QUARTZ, loader)
                ? List.of(Executor.class, TaskScheduler.class, ClassUtils.resolveClassName(QUARTZ, loader))
                : List.of(Executor.class, TaskScheduler.class);
    }

    /** Applies unless the application has {@link EnableLocking} itself, perhaps with another order. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(
            name = "mortiseLockedAdvisor",
            search = SearchStrategy.CURRENT) // advisors of a parent do not apply
    @EnableLocking
    static class Enabled {}
}
