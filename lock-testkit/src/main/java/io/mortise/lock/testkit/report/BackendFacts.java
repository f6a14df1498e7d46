// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.List;

/**
 * Facts about the backend of one test class, for the head of the report.
 *
 * @param description what was tested, such as the store with its version
 * @param backendClass name of the class that implements the hooks
 * @param capabilities the capabilities that the backend claims
 * @param leaseMillis duration of the leases
 * @param takeoverMillis longest time until the lock of a dead holder is granted again
 * @param hooks names of the hooks that are implemented
 */
public record BackendFacts(
        String description,
        String backendClass,
        List<String> capabilities,
        long leaseMillis,
        long takeoverMillis,
        List<String> hooks) {}
