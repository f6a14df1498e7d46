// SPDX-License-Identifier: Apache-2.0
/** A command that runs while a lock is held, and a lock that is held until a signal. */
@NullMarked
package io.mortise.lock.cli.run;

import org.jspecify.annotations.NullMarked;
