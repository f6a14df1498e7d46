// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.LockClient;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.ImportAware;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;

/** The beans of {@link EnableLocking}. None of them creates the {@link LockClient} before it is needed. */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockingConfiguration implements ImportAware {
    private int order = EnableLocking.DEFAULT_ORDER;

    @Override
    public void setImportMetadata(AnnotationMetadata importing) {
        order = importing.getAnnotations().get(EnableLocking.class).getInt("order");
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods mortiseLockedMethods(ConfigurableListableBeanFactory beans) {
        return new LockedMethods(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    Advisor mortiseLockedAdvisor(LockedMethods methods) {
        DefaultPointcutAdvisor advisor =
                new DefaultPointcutAdvisor(new LockedPointcut(), new LockedInterceptor(methods));
        advisor.setOrder(order);
        return advisor;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeansCheck mortiseLockedBeansCheck(LockedMethods methods, ConfigurableListableBeanFactory beans) {
        return new LockedBeansCheck(methods, beans);
    }

    /** The application's own template, if it has one, takes precedence. */
    @Bean
    @Lazy
    @Fallback
    static LockTemplate mortiseLockTemplate(ObjectProvider<LockClient> client, LockedMethods methods) {
        return new LockTemplate(client.getObject()).maxWait(methods.defaultMaxWait());
    }
}
