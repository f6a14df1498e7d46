// SPDX-License-Identifier: Apache-2.0
/** Keys and Lua scripts of the masters, and the messages that the scripts publish. Internal. */
@NullMarked
package io.mortise.lock.redlock.storage;

import org.jspecify.annotations.NullMarked;
