// SPDX-License-Identifier: Apache-2.0
/** The demo, which shows what goes wrong without a lock, and how a lock and its fencing token prevent it. */
@NullMarked
package io.mortise.lock.example.demo;

import org.jspecify.annotations.NullMarked;
