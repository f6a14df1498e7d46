// SPDX-License-Identifier: Apache-2.0
/** Recipes that are built on the lock API alone: one leader among many candidates, and several locks at once. */
@NullMarked
package io.mortise.lock.recipe;

import org.jspecify.annotations.NullMarked;
