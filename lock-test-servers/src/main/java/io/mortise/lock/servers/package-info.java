// SPDX-License-Identifier: Apache-2.0
/** The entry point for tests that need a server. */
@NullMarked
package io.mortise.lock.servers;

import org.jspecify.annotations.NullMarked;
