// SPDX-License-Identifier: Apache-2.0
/**
 * Listeners of a client that report to Micrometer: {@link io.mortise.lock.micrometer.LockMetrics} to a meter registry, and
 * {@link io.mortise.lock.micrometer.LockWaitTracing} to an observation registry.
 */
@NullMarked
package io.mortise.lock.micrometer;

import org.jspecify.annotations.NullMarked;
