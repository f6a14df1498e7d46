// SPDX-License-Identifier: Apache-2.0
/**
 * Network faults: TCP proxies that delay, withhold, cut and lose traffic. Nothing here needs a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.proxy;

import org.jspecify.annotations.NullMarked;
