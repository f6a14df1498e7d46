// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import java.util.function.Function;

/**
 * A connection that the application has to a store, and that can serve for locks.
 *
 * @param description what the application has, for messages
 * @param open opens a client by it
 */
record LockConnection(String description, Function<ClientOptions, LockClient> open) {}
