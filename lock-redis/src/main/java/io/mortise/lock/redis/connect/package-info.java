// SPDX-License-Identifier: Apache-2.0
/** Internal: Tries to connect, and what is wrong when one fails. */
@NullMarked
package io.mortise.lock.redis.connect;

import org.jspecify.annotations.NullMarked;
