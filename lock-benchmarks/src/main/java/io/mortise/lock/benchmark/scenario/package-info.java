// SPDX-License-Identifier: Apache-2.0
/** Benchmark scenarios, one class each, and the classes that run them. */
@NullMarked
package io.mortise.lock.benchmark.scenario;

import org.jspecify.annotations.NullMarked;
