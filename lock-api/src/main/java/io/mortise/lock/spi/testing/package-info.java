// SPDX-License-Identifier: Apache-2.0
/** Test support for backends and applications: a clock that tests control, and a view of what passes between core and store. */
@NullMarked
package io.mortise.lock.spi.testing;

import org.jspecify.annotations.NullMarked;
