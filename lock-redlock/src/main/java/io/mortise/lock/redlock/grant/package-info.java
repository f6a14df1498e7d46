// SPDX-License-Identifier: Apache-2.0
/** Acquires, renews and releases grants on a majority of masters, and cleans up after unknown outcomes. Internal. */
@NullMarked
package io.mortise.lock.redlock.grant;

import org.jspecify.annotations.NullMarked;
