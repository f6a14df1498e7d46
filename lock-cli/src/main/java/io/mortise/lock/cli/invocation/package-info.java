// SPDX-License-Identifier: Apache-2.0
/** What all commands share: how they are called, and how they end. */
@NullMarked
package io.mortise.lock.cli.invocation;

import org.jspecify.annotations.NullMarked;
