// SPDX-License-Identifier: Apache-2.0
/** Internal: Administration of locks on Redis servers: status, listing, and the search for risks. */
@NullMarked
package io.mortise.lock.redis.admin;

import org.jspecify.annotations.NullMarked;
