// SPDX-License-Identifier: Apache-2.0
/** {@code lockctl demo}: what goes wrong without a lock, and what the lock and its fencing token do about it. */
@NullMarked
package io.mortise.lock.cli.demo;

import org.jspecify.annotations.NullMarked;
