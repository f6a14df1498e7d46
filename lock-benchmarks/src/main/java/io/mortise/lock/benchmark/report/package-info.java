// SPDX-License-Identifier: Apache-2.0
/** From the figures of the rounds to medians, ratios, a table and JSON. */
@NullMarked
package io.mortise.lock.benchmark.report;

import org.jspecify.annotations.NullMarked;
