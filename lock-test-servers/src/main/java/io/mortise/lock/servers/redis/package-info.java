// SPDX-License-Identifier: Apache-2.0
/**
 * Redis for tests: single servers, Sentinel, Cluster and independent masters, and a client that speaks plain RESP.
 */
@NullMarked
package io.mortise.lock.servers.redis;

import org.jspecify.annotations.NullMarked;
