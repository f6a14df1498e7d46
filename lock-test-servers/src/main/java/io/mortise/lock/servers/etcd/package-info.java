// SPDX-License-Identifier: Apache-2.0
/**
 * etcd for tests: single servers and clusters, and a client of its JSON gateway.
 */
@NullMarked
package io.mortise.lock.servers.etcd;

import org.jspecify.annotations.NullMarked;
