// SPDX-License-Identifier: Apache-2.0
/** The client and its locks: the implementation of the API. */
@NullMarked
package io.mortise.lock.core.client;

import org.jspecify.annotations.NullMarked;
