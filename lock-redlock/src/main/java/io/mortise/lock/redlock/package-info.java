// SPDX-License-Identifier: Apache-2.0
/** Locks on a majority of independent Redis masters. */
@NullMarked
package io.mortise.lock.redlock;

import org.jspecify.annotations.NullMarked;
