// SPDX-License-Identifier: Apache-2.0
/** Acquires, from the call to their one outcome. */
@NullMarked
package io.mortise.lock.core.acquire;

import org.jspecify.annotations.NullMarked;
