// SPDX-License-Identifier: Apache-2.0
/** The demo: what goes wrong without a lock, and what the lock and its fencing token do about it. */
@NullMarked
package io.mortise.lock.example.demo;

import org.jspecify.annotations.NullMarked;
