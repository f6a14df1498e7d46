// SPDX-License-Identifier: Apache-2.0
/** The commands {@code run} and {@code hold}, and the control of processes, signals and the terminal that they need. */
@NullMarked
package io.mortise.lock.cli.run;

import org.jspecify.annotations.NullMarked;
