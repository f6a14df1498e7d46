// SPDX-License-Identifier: Apache-2.0
/** Entry points: a client by URL ({@link io.mortise.lock.connect.Locks}), or over a backend that was configured in code. */
@NullMarked
package io.mortise.lock.connect;

import org.jspecify.annotations.NullMarked;
