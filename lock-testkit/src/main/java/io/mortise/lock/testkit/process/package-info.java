// SPDX-License-Identifier: Apache-2.0
/**
 * Child processes and JVMs that tests can pause and kill, and that never outlive the JVM that started them.
 *
 * <p>This package does not depend on a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.process;

import org.jspecify.annotations.NullMarked;
