// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.recipe;

import org.jspecify.annotations.NullMarked;
