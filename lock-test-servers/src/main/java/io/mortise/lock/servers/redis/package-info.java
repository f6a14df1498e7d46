// SPDX-License-Identifier: Apache-2.0
/**
 * Redis for tests: single servers, Sentinel, Cluster, independent masters, and a client for raw commands.
 */
@NullMarked
package io.mortise.lock.servers.redis;

import org.jspecify.annotations.NullMarked;
