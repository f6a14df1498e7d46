// SPDX-License-Identifier: Apache-2.0
/** The concurrency, written once: acquisition, leases, renewal, settlement, discovery. Exported to nobody. */
@NullMarked
package io.mortise.lock.core;

import org.jspecify.annotations.NullMarked;
