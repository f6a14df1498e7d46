// SPDX-License-Identifier: Apache-2.0
/**
 * The report of a conformance run: what was checked, what was not, and what happened in each failed test.
 *
 * <p>{@link io.mortise.lock.testkit.report.TestRecorder} records the events of one test. Each test class writes its own JSON
 * file; {@link io.mortise.lock.testkit.report.ReportFiles} combines the files of a module into {@code report.json} and {@code
 * report.html}. See ADR 0046.
 */
@NullMarked
package io.mortise.lock.testkit.report;

import org.jspecify.annotations.NullMarked;
