// SPDX-License-Identifier: Apache-2.0
/** Leases that are held: renewal, loss, release and cleanup. */
@NullMarked
package io.mortise.lock.core.lease;

import org.jspecify.annotations.NullMarked;
