// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on a majority of independent Redis masters. Applications use only this package; the subpackages are internal and not
 * exported.
 */
@NullMarked
package io.mortise.lock.redlock;

import org.jspecify.annotations.NullMarked;
