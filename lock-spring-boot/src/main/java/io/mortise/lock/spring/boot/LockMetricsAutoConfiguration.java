// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.lock.micrometer.LockMetrics;
import io.mortise.lock.micrometer.LockWaitTracing;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the listeners of {@code lock-micrometer}, for the application's registries of meters and observations. An own
 * {@link LockMetrics} or {@link LockWaitTracing} bean replaces them.
 */
@AutoConfiguration(
        before = LockClientAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass({LockMetrics.class, MeterRegistry.class})
public final class LockMetricsAutoConfiguration {
    /** Creates the configuration; called by Spring. */
    LockMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnSingleCandidate(MeterRegistry.class)
    @ConditionalOnMissingBean
    LockMetrics mortiseLockMetrics(MeterRegistry registry) {
        return LockMetrics.of(registry);
    }

    @Bean
    @ConditionalOnSingleCandidate(ObservationRegistry.class)
    @ConditionalOnMissingBean
    LockWaitTracing mortiseLockWaitTracing(ObservationRegistry registry) {
        return LockWaitTracing.of(registry);
    }
}
