// SPDX-License-Identifier: Apache-2.0
/** Example programs that show how an application uses the locks. */
@NullMarked
package io.mortise.lock.example;

import org.jspecify.annotations.NullMarked;
