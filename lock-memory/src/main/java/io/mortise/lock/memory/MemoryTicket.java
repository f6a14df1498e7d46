// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.Ticket;
import java.util.concurrent.CompletionStage;

/** The client's side of one {@link Place}. */
record MemoryTicket(MemoryBackend connection, MemoryStore store, Place place) implements Ticket {
    @Override
    public CompletionStage<Attempt> attempt() {
        return connection.send("acquire of lock \"" + LockName.shown(place.name) + "\"", () -> store.ask(place));
    }

    @Override
    public CompletionStage<Boolean> end() {
        return connection.send("release of lock \"" + LockName.shown(place.name) + "\"", () -> store.end(place));
    }
}
