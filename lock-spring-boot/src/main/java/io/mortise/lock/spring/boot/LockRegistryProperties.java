// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.spring.integration.MortiseLockRegistry;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code mortise.integration.*}.
 *
 * @param prefix Prefix of the lock names of Spring Integration's lock registry. May be empty.
 */
@ConfigurationProperties("mortise.integration")
public record LockRegistryProperties(
        @DefaultValue(MortiseLockRegistry.DEFAULT_PREFIX) String prefix) {}
