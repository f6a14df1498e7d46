// SPDX-License-Identifier: Apache-2.0
/** Explores a protocol within a scope: all states that can be reached, what is wrong in them, and the shortest way there. */
@NullMarked
package io.mortise.lock.explorer;

import org.jspecify.annotations.NullMarked;
