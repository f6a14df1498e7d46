// SPDX-License-Identifier: Apache-2.0
/**
 * Real servers and real faults for tests and demonstrations: servers in this JVM or in child JVMs that can be paused and
 * killed, and a TCP proxy that delays, withholds, cuts and loses traffic. Nothing here needs a test framework.
 *
 * <p>Whatever is started here is stopped by its own {@code close()}. Child processes also end by themselves when the JVM
 * that started them dies, however it dies.
 */
@NullMarked
package io.mortise.lock.testkit.servers;

import org.jspecify.annotations.NullMarked;
