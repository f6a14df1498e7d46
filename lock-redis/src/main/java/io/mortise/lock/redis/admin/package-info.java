// SPDX-License-Identifier: Apache-2.0
/** Internal: What operators see: listing, diagnosis, settings that endanger locks. */
@NullMarked
package io.mortise.lock.redis.admin;

import org.jspecify.annotations.NullMarked;
