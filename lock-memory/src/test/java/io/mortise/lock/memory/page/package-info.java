// SPDX-License-Identifier: Apache-2.0
/** The code that the pages on the Java lock and on leader election show. */
@NullMarked
package io.mortise.lock.memory.page;

import org.jspecify.annotations.NullMarked;
