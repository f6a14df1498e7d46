// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When the store has responded to a client, as {@link LastResponse} knew it at one moment. An immutable value.
 *
 * @param lastResponse when the store last responded to any request
 * @param failingSince when the first request without a response was sent since then; null if there is none
 */
public record StoreContact(
        MonotonicInstant lastResponse, @Nullable MonotonicInstant failingSince) {

    /** Returns the contact after a request that was sent then has had no response. */
    public StoreContact failed(MonotonicInstant sent) {
        return failingSince != null ? this : new StoreContact(lastResponse, lastResponse.orLater(sent));
    }

    /** Returns for how long requests have had no response; zero if the latest one had. Excludes time without requests. */
    public Duration failing(MonotonicInstant now) {
        return failingSince == null ? Duration.ZERO : failingSince.until(now);
    }

    /** Returns the time since the last response. */
    public Duration since(MonotonicInstant now) {
        return lastResponse.until(now);
    }

    /** Returns the contact according to requests that have had no response since then, although others may have had one. */
    public StoreContact failingSince(MonotonicInstant sent) {
        return new StoreContact(lastResponse, failingSince == null ? sent : failingSince.orEarlier(sent));
    }
}
