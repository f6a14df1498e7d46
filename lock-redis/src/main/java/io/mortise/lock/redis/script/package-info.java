// SPDX-License-Identifier: Apache-2.0
/** Internal: Lua scripts, the calls that run them on a server, and their replies. */
@NullMarked
package io.mortise.lock.redis.script;

import org.jspecify.annotations.NullMarked;
