// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.ClientOptions;

/**
 * Callback, as a bean, that changes the options of the auto-configured client. Customizers are called in their
 * {@linkplain org.springframework.core.annotation.Order order}, after the properties and the listeners have been applied.
 */
@FunctionalInterface
public interface ClientOptionsCustomizer {
    /** Returns the changed options. */
    ClientOptions customize(ClientOptions options);
}
