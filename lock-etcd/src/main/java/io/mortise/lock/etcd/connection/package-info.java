// SPDX-License-Identifier: Apache-2.0
/** Internal: the client of one member at a time, its requests, watches and errors. */
@NullMarked
package io.mortise.lock.etcd.connection;

import org.jspecify.annotations.NullMarked;
