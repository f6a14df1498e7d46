// SPDX-License-Identifier: Apache-2.0
/** Internal: The majority of sentinels that says where the master is (ADR 0030). */
@NullMarked
package io.mortise.lock.redis.sentinel;

import org.jspecify.annotations.NullMarked;
