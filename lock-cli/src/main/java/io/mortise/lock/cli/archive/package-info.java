// SPDX-License-Identifier: Apache-2.0
/** What makes the command start fast: an archive of its classes, for one Java (ADR 0024). */
@NullMarked
package io.mortise.lock.cli.archive;

import org.jspecify.annotations.NullMarked;
