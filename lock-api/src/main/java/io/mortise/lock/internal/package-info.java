// SPDX-License-Identifier: Apache-2.0
/** Internal helpers of the API, the SPI and the core, which the module does not export. */
@NullMarked
package io.mortise.lock.internal;

import org.jspecify.annotations.NullMarked;
