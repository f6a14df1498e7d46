// SPDX-License-Identifier: Apache-2.0
/** The stores to measure on, and who competes on each: Mortise, a raw client, a peer. */
@NullMarked
package io.mortise.lock.benchmark.backend;

import org.jspecify.annotations.NullMarked;
