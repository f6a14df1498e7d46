// SPDX-License-Identifier: Apache-2.0
/** Internal: Lettuce's clients: URIs, options, errors. */
@NullMarked
package io.mortise.lock.redis.client;

import org.jspecify.annotations.NullMarked;
