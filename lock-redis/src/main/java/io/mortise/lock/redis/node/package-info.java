// SPDX-License-Identifier: Apache-2.0
/**
 * One Redis server and what a lock needs of it: a connection that tells in which order things happened, scripts, the server's
 * clock, requests that may yet be executed; and what backends on such servers have in common. For the backends of this project that have locks on Redis servers, and exported
 * to them alone (ADR 0020): it may change with each release.
 */
@NullMarked
package io.mortise.lock.redis.node;

import org.jspecify.annotations.NullMarked;
