// SPDX-License-Identifier: Apache-2.0
/** Internal: Lettuce clients, their URIs and options, and the translation of their errors. */
@NullMarked
package io.mortise.lock.redis.client;

import org.jspecify.annotations.NullMarked;
