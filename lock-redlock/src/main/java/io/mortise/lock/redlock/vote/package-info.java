// SPDX-License-Identifier: Apache-2.0
/** Pure decisions about votes of masters: majorities, tallies and retry delays. Internal. */
@NullMarked
package io.mortise.lock.redlock.vote;

import org.jspecify.annotations.NullMarked;
