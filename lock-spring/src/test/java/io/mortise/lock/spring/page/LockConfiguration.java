// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spring.EnableLocking;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
@EnableLocking
public class LockConfiguration {
    @Bean
    LockClient locks(@Value("${locks.url}") String url) {
        return Locks.connect(url);
    }
}
