// SPDX-License-Identifier: Apache-2.0
/** The command-line tool {@code lockctl}. */
@NullMarked
package io.mortise.lock.cli;

import org.jspecify.annotations.NullMarked;
