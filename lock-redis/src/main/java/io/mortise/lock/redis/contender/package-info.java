// SPDX-License-Identifier: Apache-2.0
/** Internal: The contenders of one client, and the removal of a contender from the server. */
@NullMarked
package io.mortise.lock.redis.contender;

import org.jspecify.annotations.NullMarked;
