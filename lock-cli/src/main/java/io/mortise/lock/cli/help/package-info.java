// SPDX-License-Identifier: Apache-2.0
/** What is made of the commands' own descriptions: the manual page, and completion in shells. */
@NullMarked
package io.mortise.lock.cli.help;

import org.jspecify.annotations.NullMarked;
