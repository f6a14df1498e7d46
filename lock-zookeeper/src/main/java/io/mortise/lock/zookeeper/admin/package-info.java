// SPDX-License-Identifier: Apache-2.0
/** Internal: inspection of locks, checks for risks, and diagnosis of failures to connect. */
@NullMarked
package io.mortise.lock.zookeeper.admin;

import org.jspecify.annotations.NullMarked;
