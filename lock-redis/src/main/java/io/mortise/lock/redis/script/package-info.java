// SPDX-License-Identifier: Apache-2.0
/** Internal: Lua scripts as calls of one connection, and their replies. */
@NullMarked
package io.mortise.lock.redis.script;

import org.jspecify.annotations.NullMarked;
