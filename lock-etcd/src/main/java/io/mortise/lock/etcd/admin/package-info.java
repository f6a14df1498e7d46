// SPDX-License-Identifier: Apache-2.0
/** Internal: inspection of locks, and diagnosis of the cluster and its members. */
@NullMarked
package io.mortise.lock.etcd.admin;

import org.jspecify.annotations.NullMarked;
