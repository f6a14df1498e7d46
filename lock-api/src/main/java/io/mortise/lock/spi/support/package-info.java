// SPDX-License-Identifier: Apache-2.0
/** Helpers that backends share: connect and close deadlines, failures of stages, security and class-path checks. */
@NullMarked
package io.mortise.lock.spi.support;

import org.jspecify.annotations.NullMarked;
