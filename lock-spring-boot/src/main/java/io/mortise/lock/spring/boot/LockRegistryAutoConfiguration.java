// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spring.integration.MortiseLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/** Auto-configuration of a lock registry for Spring Integration, unless the application has one of its own. */
@AutoConfiguration(after = LockClientAutoConfiguration.class)
@ConditionalOnClass({MortiseLockRegistry.class, LockRegistry.class})
@ConditionalOnSingleCandidate(LockClient.class)
@EnableConfigurationProperties(LockRegistryProperties.class)
public final class LockRegistryAutoConfiguration {
    /** Creates the configuration; called by Spring. */
    LockRegistryAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    MortiseLockRegistry mortiseLockRegistry(LockClient client, LockRegistryProperties properties) {
        return new MortiseLockRegistry(
                client, LockOptions.defaults(), MortiseLockRegistry.namesWithPrefix(properties.prefix()));
    }
}
