// SPDX-License-Identifier: Apache-2.0
/** What backends have in common: connect and close deadlines, failures of stages, checks of access and class path. */
@NullMarked
package io.mortise.lock.spi.support;

import org.jspecify.annotations.NullMarked;
