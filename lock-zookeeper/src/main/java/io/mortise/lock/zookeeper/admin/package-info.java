// SPDX-License-Identifier: Apache-2.0
/** Internal: inspection of locks, diagnosis of servers, and the reasons why a client cannot connect. */
@NullMarked
package io.mortise.lock.zookeeper.admin;

import org.jspecify.annotations.NullMarked;
