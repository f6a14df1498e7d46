// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that two correct backends pass the conformance kit, one in memory and one on the simple SPI.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.proof;
