// SPDX-License-Identifier: Apache-2.0
/** Helpers for backends whose grants end with a session: current session, wait queue and deferred watches. */
@NullMarked
package io.mortise.lock.spi.session;

import org.jspecify.annotations.NullMarked;
