// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot.page;

import io.mortise.lock.spring.boot.ClientOptionsCustomizer;
import java.util.concurrent.Executor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LockOptionsConfiguration {
    @Bean
    ClientOptionsCustomizer callbacks(Executor callbacks) {
        return options -> options.callbackExecutor(callbacks);
    }
}
