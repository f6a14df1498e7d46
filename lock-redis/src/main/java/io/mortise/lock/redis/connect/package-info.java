// SPDX-License-Identifier: Apache-2.0
/** Internal: Attempts to connect to Redis servers, and the diagnosis of failed ones. */
@NullMarked
package io.mortise.lock.redis.connect;

import org.jspecify.annotations.NullMarked;
