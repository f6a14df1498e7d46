// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.LockClient;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.CompositeHealthContributorConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the health contributor {@code mortise}, with one part for each client. */
@AutoConfiguration(after = LockClientAutoConfiguration.class)
@ConditionalOnClass({HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LockClient.class)
@ConditionalOnEnabledHealthIndicator("mortise")
public final class LockHealthAutoConfiguration
        extends CompositeHealthContributorConfiguration<LockHealthIndicator, LockClient> {
    /** Creates the configuration; called by Spring. */
    LockHealthAutoConfiguration() {
        super(LockHealthIndicator::new);
    }

    @Bean
    @ConditionalOnMissingBean(name = {"mortiseHealthIndicator", "mortiseHealthContributor"})
    HealthContributor mortiseHealthContributor(ConfigurableListableBeanFactory beans) {
        return createContributor(beans, LockClient.class);
    }
}
