// SPDX-License-Identifier: Apache-2.0
/** What is measured, one class each. */
@NullMarked
package io.mortise.lock.benchmark.scenario;

import org.jspecify.annotations.NullMarked;
