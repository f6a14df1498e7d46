// SPDX-License-Identifier: Apache-2.0
/** Internal: a contender's acquire transactions, and the deletion of its key. */
@NullMarked
package io.mortise.lock.etcd.contender;

import org.jspecify.annotations.NullMarked;
