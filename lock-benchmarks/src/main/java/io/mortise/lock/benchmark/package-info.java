// SPDX-License-Identifier: Apache-2.0
/** The {@code benchmark} command, which runs the scenarios and decides their order. */
@NullMarked
package io.mortise.lock.benchmark;

import org.jspecify.annotations.NullMarked;
