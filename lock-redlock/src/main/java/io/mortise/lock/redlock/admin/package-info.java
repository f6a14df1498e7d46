// SPDX-License-Identifier: Apache-2.0
/** Administration of locks, and diagnosis of the masters. Internal. */
@NullMarked
package io.mortise.lock.redlock.admin;

import org.jspecify.annotations.NullMarked;
