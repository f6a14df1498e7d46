// SPDX-License-Identifier: Apache-2.0
/** What a user's build makes of the published POMs. */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.consumers;
