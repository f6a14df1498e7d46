// SPDX-License-Identifier: Apache-2.0
/** Stores to benchmark, and the competitors on each: Mortise, a hand-written client and another lock library. */
@NullMarked
package io.mortise.lock.benchmark.backend;

import org.jspecify.annotations.NullMarked;
