// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on etcd 3.4 or newer, by transactions and watches: a fair queue of keys, one request to acquire and one to release.
 * Excludes {@code etcdctl lock} and Go's {@code concurrency.Mutex} on the same name, and is excluded by them.
 */
@NullMarked
package io.mortise.lock.etcd;

import org.jspecify.annotations.NullMarked;
