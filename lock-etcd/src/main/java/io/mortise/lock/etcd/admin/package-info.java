// SPDX-License-Identifier: Apache-2.0
/** Internal: operations for operators, and the diagnosis of a cluster and its members. */
@NullMarked
package io.mortise.lock.etcd.admin;

import org.jspecify.annotations.NullMarked;
