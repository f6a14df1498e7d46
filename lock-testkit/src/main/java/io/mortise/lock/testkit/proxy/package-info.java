// SPDX-License-Identifier: Apache-2.0
/**
 * TCP proxies that inject network faults: they delay, hold back, cut and drop traffic.
 *
 * <p>This package does not depend on a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.proxy;

import org.jspecify.annotations.NullMarked;
