// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.spi.LockBackend;
import org.jspecify.annotations.Nullable;

/** The recorded state of one client of a test; guarded by its {@link TestRecorder}. */
final class ClientLinkState {
    final String name;

    /** The client's backend, not wrapped by the {@link RecordingBackend}; null if the client was not opened through the core. */
    @Nullable
    LockBackend backend;

    /** The fault on the client's link; null if there is none. */
    @Nullable
    FaultEffectRecord fault;

    /** The reply that is dropped next, or has been dropped; null if there is none. */
    @Nullable
    LostReplyRecord lostReply;

    ClientLinkState(String name) {
        this.name = name;
    }
}
