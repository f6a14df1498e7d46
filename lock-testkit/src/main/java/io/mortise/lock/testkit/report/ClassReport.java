// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.List;
import java.util.Map;

/**
 * The report of one test class, as it is stored in a JSON file.
 *
 * @param testClass name of the class
 * @param date when the class ended, in UTC
 * @param mortise version of the kit
 * @param java version of the JVM
 * @param system operating system and processor
 * @param backend facts about the backend
 * @param accepted names of the holes that this run accepts
 * @param tests the names of all tests that the kit has
 * @param results the results, in the order in which the tests ended
 * @param timings measured durations in microseconds, by what was measured
 * @param hookChecks whether the faults took effect
 */
record ClassReport(
        String testClass,
        String date,
        String mortise,
        String java,
        String system,
        BackendFacts backend,
        List<String> accepted,
        List<String> tests,
        List<TestResult> results,
        Map<String, List<Long>> timings,
        List<FaultEffectCounts> hookChecks) {}
