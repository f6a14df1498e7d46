// SPDX-License-Identifier: Apache-2.0
/** The implementation of the API: the client and its locks. */
@NullMarked
package io.mortise.lock.core.client;

import org.jspecify.annotations.NullMarked;
