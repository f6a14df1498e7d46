// SPDX-License-Identifier: Apache-2.0
/** Held leases: their renewal, loss, release and cleanup. */
@NullMarked
package io.mortise.lock.core.lease;

import org.jspecify.annotations.NullMarked;
