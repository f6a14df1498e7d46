// SPDX-License-Identifier: Apache-2.0
/** Helpers of the API, the SPI and the core; exported to nobody. */
@NullMarked
package io.mortise.lock.internal;

import org.jspecify.annotations.NullMarked;
