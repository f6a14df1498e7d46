// SPDX-License-Identifier: Apache-2.0
/** Reports: medians and ratios of the measured rounds, as a table and as JSON. */
@NullMarked
package io.mortise.lock.benchmark.report;

import org.jspecify.annotations.NullMarked;
