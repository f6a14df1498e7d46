// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** The contender of the in-memory backend, which sends its requests to the store over the client's connection. */
record MemoryContender(MemoryBackend connection, MemoryStore store, MemoryStoredContender entry) implements Contender {
    @Override
    public CompletionStage<AttemptResult> attempt() {
        return connection.send("acquire of lock \"" + LockName.shown(entry.name) + "\"", () -> store.attempt(entry));
    }

    @Override
    public CompletionStage<Boolean> end() {
        return connection.send("release of lock \"" + LockName.shown(entry.name) + "\"", () -> store.end(entry));
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        return connection.send(
                "delayed release of lock \"" + LockName.shown(entry.name) + "\"", () -> store.endAfter(entry, delay));
    }
}
