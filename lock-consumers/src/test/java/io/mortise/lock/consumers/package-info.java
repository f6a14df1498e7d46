// SPDX-License-Identifier: Apache-2.0
/** Tests that a user's Maven project can resolve and run the published artifacts. */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.consumers;
