// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The failures that somebody has explained by hand, most specific first. */
final class Findings {
    private static final List<Finding> ALL = List.of(
            failed(
                    "curator-timed-acquire",
                    peer -> peer.store() == StoreKind.ZOOKEEPER,
                    "S09_waitsOnASilentStoreAreBounded",
                    "a wait of PT\\S+\\] \\| Expecting actual",
                    "A timed acquire takes many seconds longer while the server is silent",
                    """
                    The Javadoc of `InterProcessLock.acquire(time, unit)` says "blocks until it's available or the given time expires". Only the
                    wait for the node ahead is limited: `LockInternals.attemptLock` first creates its node, by a call that knows nothing of the
                    limit. While the server is silent, that call lasts until the session times out, is repeated by the retry policy, and
                    fails with an exception. A caller that has promised an answer within 300 ms has none after 20 s.""",
                    "CuratorReproductionTest.aTimedAcquireTakesMuchLongerWhileTheServerIsSilent",
                    Optional.empty()),
            unclaimed(
                    peer -> true,
                    ".*",
                    "\\[onExpiring\\]",
                    "a warning before a lease ends (exclusion and takeover were checked before)"),
            unclaimed(
                    peer -> true,
                    ".*",
                    "remaining\\(\\)|S02_isHeldIsLocal|10,000 calls of isHeld",
                    "the remaining time, and a check without a request"),
            unclaimed(peer -> true, "S09_.*", "best of 5", "a bound of 50 ms for what exceeds the limit of a wait"),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    ".*",
                    "S07|the loss is|is notified|no outcome in",
                    Claim.LOSS_NOTIFICATION.description()),
            unclaimed(peer -> true, "S12_.*", "waiter of the closed client", "a close that ends waits"),
            unclaimed(
                    peer -> true,
                    "S09_.*|S08_.*|S15_.*|S03_.*",
                    "S15: |Expecting code to raise a throwable|no reply must not",
                    "a result that tells \"no reply\" from \"busy\""));

    private Findings() {}

    private static Finding unclaimed(Predicate<Peer> peers, String tests, String messages, String title) {
        return new Finding(
                title,
                peers,
                Pattern.compile(tests),
                Pattern.compile(messages),
                Verdict.NEVER_CLAIMED,
                title,
                "",
                "",
                Optional.empty());
    }

    private static Finding failed(
            String id,
            Predicate<Peer> peers,
            String tests,
            String messages,
            String title,
            String text,
            String reproduction,
            Optional<String> issue) {
        return new Finding(
                id,
                peers,
                Pattern.compile(tests),
                Pattern.compile(messages),
                Verdict.FAILED,
                title,
                text,
                reproduction,
                issue);
    }

    /** Returns all explanations. */
    static List<Finding> all() {
        return ALL;
    }

    /** Returns the explanation of a failure; empty if nobody has found it yet. */
    static Optional<Finding> of(Peer peer, TestRecord record) {
        return ALL.stream().filter(each -> each.explains(peer, record)).findFirst();
    }
}
