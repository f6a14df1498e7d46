// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import java.util.List;
import java.util.Optional;

/**
 * The combined result of querying all sentinels for the current master.
 *
 * @param confirmed whether a majority of all known sentinels names the expected server
 * @param majority whether a majority of all known sentinels names one master, the expected server or another
 * @param named the master that most sentinels with a reply name; empty if there is no reply
 * @param sentinels the number of sentinels as far as it is known
 * @param text the counts and the reasons of failures, for messages
 * @param failures the failures of sentinels without a reply
 */
record SentinelVerdict(
        boolean confirmed,
        boolean majority,
        Optional<SentinelReply> named,
        int sentinels,
        String text,
        List<Throwable> failures) {}
