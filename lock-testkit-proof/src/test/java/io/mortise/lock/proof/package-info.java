// SPDX-License-Identifier: Apache-2.0
/** What keeps the contract passes the kit: the backend in memory, and one through the simple SPI that claims little. */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.proof;
