// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import java.util.List;
import java.util.Optional;

/**
 * Outcome of one question to all sentinels.
 *
 * @param confirmed whether a majority of all known sentinels names the server that they were asked about
 * @param majority whether a majority of all known sentinels names one master, that server or another
 * @param named the master that most of those that answered name, empty if none did
 * @param sentinels how many there are as far as is known
 * @param text the count, and why sentinels failed, for people
 * @param failures of those that did not answer
 */
record SentinelVerdict(
        boolean confirmed,
        boolean majority,
        Optional<SentinelAnswer> named,
        int sentinels,
        String text,
        List<Throwable> failures) {}
