// SPDX-License-Identifier: Apache-2.0
/** The parts that all commands share: common options, argument converters, output formats, logging and exit codes. */
@NullMarked
package io.mortise.lock.cli.invocation;

import org.jspecify.annotations.NullMarked;
