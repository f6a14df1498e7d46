// SPDX-License-Identifier: Apache-2.0
/**
 * Auto-configuration for Spring Boot: a {@link io.mortise.lock.LockClient} from the properties {@code mortise.*} or from the
 * connection that the application already has, {@link io.mortise.lock.spring.Locked} methods, metrics, health, and the actuator
 * endpoint {@code locks}.
 */
@NullMarked
package io.mortise.lock.spring.boot;

import org.jspecify.annotations.NullMarked;
