// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import org.jspecify.annotations.Nullable;

/**
 * A request that a client sent to the store.
 *
 * @param client the client
 * @param sentAt when it was sent
 * @param fault the fault on the link or the server at that moment; null if there was none
 */
record StoreRequestRecord(
        ClientLinkState client, long sentAt, @Nullable FaultEffectRecord fault) {}
