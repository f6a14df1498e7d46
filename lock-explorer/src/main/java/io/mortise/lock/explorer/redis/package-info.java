// SPDX-License-Identifier: Apache-2.0
/** A pure model of a Redis server, which runs the production Lua scripts in the interpreter that Redis embeds. */
@NullMarked
package io.mortise.lock.explorer.redis;

import org.jspecify.annotations.NullMarked;
