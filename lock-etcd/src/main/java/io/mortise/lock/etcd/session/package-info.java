// SPDX-License-Identifier: Apache-2.0
/** Internal: the client's session, which is one etcd lease, with its renewals and its watch. */
@NullMarked
package io.mortise.lock.etcd.session;

import org.jspecify.annotations.NullMarked;
