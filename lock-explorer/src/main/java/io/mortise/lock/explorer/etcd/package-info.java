// SPDX-License-Identifier: Apache-2.0
/** A model of etcd: what transactions and the ends of leases do to its keys. */
@NullMarked
package io.mortise.lock.explorer.etcd;

import org.jspecify.annotations.NullMarked;
