// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on etcd 3.4 or newer, built on transactions and watches. Each lock is a fair queue of keys; an acquire and a
 * release take one request each. A lock excludes {@code etcdctl lock} and Go's {@code concurrency.Mutex} of the same name,
 * and they exclude it.
 */
@NullMarked
package io.mortise.lock.etcd;

import org.jspecify.annotations.NullMarked;
