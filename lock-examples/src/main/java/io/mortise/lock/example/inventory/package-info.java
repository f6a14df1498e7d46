// SPDX-License-Identifier: Apache-2.0
/** An HTTP service of several instances that share one stock, and sell no unit twice. */
@NullMarked
package io.mortise.lock.example.inventory;

import org.jspecify.annotations.NullMarked;
