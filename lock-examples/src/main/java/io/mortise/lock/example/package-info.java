// SPDX-License-Identifier: Apache-2.0
/** Programs to copy from: how an application uses the locks. */
@NullMarked
package io.mortise.lock.example;

import org.jspecify.annotations.NullMarked;
