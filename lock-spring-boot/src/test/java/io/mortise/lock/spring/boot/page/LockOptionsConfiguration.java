// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot.page;

import io.mortise.lock.spring.boot.ClientOptionsCustomizer;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@Configuration(proxyBeanMethods = false)
class LockOptionsConfiguration {
    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor lockCallbacks(ThreadPoolTaskExecutorBuilder builder) {
        return builder.corePoolSize(4).threadNamePrefix("lock-callback-").build();
    }

    @Bean
    ClientOptionsCustomizer lockOptions(@Qualifier("lockCallbacks") Executor callbacks) {
        return options -> options.callbackExecutor(callbacks);
    }
}
