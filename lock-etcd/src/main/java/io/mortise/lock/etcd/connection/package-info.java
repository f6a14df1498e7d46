// SPDX-License-Identifier: Apache-2.0
/** Internal: connections to etcd's members, with requests, watches and errors. */
@NullMarked
package io.mortise.lock.etcd.connection;

import org.jspecify.annotations.NullMarked;
