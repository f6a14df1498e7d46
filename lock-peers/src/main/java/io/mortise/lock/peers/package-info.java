// SPDX-License-Identifier: Apache-2.0
/** Adapters that present other lock libraries to the conformance kit, and the command that compares them. */
@NullMarked
package io.mortise.lock.peers;

import org.jspecify.annotations.NullMarked;
