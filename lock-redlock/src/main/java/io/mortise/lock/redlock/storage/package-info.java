// SPDX-License-Identifier: Apache-2.0
/** What a master stores: keys, scripts, and the messages that scripts publish. Internal. */
@NullMarked
package io.mortise.lock.redlock.storage;

import org.jspecify.annotations.NullMarked;
