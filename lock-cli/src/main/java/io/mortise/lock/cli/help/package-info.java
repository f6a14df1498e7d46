// SPDX-License-Identifier: Apache-2.0
/** The manual page and the shell completion, which are generated from the help texts of the commands. */
@NullMarked
package io.mortise.lock.cli.help;

import org.jspecify.annotations.NullMarked;
