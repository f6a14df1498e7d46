// SPDX-License-Identifier: Apache-2.0
/**
 * Entry points, which open clients: {@link io.mortise.lock.connect.Locks} by URL, and
 * {@link io.mortise.lock.connect.BackendClients} for a backend that was configured in code.
 */
@NullMarked
package io.mortise.lock.connect;

import org.jspecify.annotations.NullMarked;
