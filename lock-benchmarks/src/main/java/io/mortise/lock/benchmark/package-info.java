// SPDX-License-Identifier: Apache-2.0
/** The command {@code benchmark}: what is run, and in which order. */
@NullMarked
package io.mortise.lock.benchmark;

import org.jspecify.annotations.NullMarked;
