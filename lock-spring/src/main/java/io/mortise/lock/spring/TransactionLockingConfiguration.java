// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/** The beans of {@link EnableLocking} that need spring-tx. */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class TransactionLockingConfiguration {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LeaseCheckPostProcessor mortiseLeaseCheckPostProcessor(ConfigurableListableBeanFactory beans) {
        return new LeaseCheckPostProcessor(beans);
    }
}
