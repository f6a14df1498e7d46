// SPDX-License-Identifier: Apache-2.0
/** The operator's view of locks and masters. Internal. */
@NullMarked
package io.mortise.lock.redlock.admin;

import org.jspecify.annotations.NullMarked;
