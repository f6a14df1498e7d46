// SPDX-License-Identifier: Apache-2.0
/**
 * Child processes and JVMs that can be paused and killed, and that end when the JVM that started them dies, however it dies.
 * Nothing here needs a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.process;

import org.jspecify.annotations.NullMarked;
