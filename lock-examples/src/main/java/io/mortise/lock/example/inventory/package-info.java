// SPDX-License-Identifier: Apache-2.0
/** An HTTP service with several instances that share one stock and never sell a unit twice. */
@NullMarked
package io.mortise.lock.example.inventory;

import org.jspecify.annotations.NullMarked;
