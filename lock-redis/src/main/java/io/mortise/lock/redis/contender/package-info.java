// SPDX-License-Identifier: Apache-2.0
/** Internal: Contenders of one client, and the removal of one. */
@NullMarked
package io.mortise.lock.redis.contender;

import org.jspecify.annotations.NullMarked;
