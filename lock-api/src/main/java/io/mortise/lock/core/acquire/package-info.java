// SPDX-License-Identifier: Apache-2.0
/** Acquire operations: each one runs from the call of the application to its single outcome. */
@NullMarked
package io.mortise.lock.core.acquire;

import org.jspecify.annotations.NullMarked;
