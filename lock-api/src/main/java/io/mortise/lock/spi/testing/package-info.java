// SPDX-License-Identifier: Apache-2.0
/** For tests of backends, and of applications: a clock that is moved by hand. */
@NullMarked
package io.mortise.lock.spi.testing;

import org.jspecify.annotations.NullMarked;
