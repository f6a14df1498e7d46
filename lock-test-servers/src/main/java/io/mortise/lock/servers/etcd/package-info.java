// SPDX-License-Identifier: Apache-2.0
/**
 * etcd for tests: single servers, clusters, and a client that uses the JSON gateway.
 */
@NullMarked
package io.mortise.lock.servers.etcd;

import org.jspecify.annotations.NullMarked;
