// SPDX-License-Identifier: Apache-2.0
/** The code that {@code docs/using-java-lock.md} shows. */
@NullMarked
package io.mortise.lock.memory.page;

import org.jspecify.annotations.NullMarked;
