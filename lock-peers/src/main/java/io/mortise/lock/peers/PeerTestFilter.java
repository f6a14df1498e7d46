// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Capability;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Decides which conformance tests are applicable to a given lock library. */
final class PeerTestFilter {
    /** A group of tests that is left out, with the reason. */
    private record Excluded(Pattern tests, String reason) {}

    private static final Set<String> CAPABILITIES_CHECKED_OTHERWISE = Set.of(
            Capability.FAIR.name(),
            Capability.PER_LOCK_LEASE.name(),
            Capability.HOLDER_INFO.name(),
            Capability.LIST.name(),
            Capability.DELAYED_RELEASE.name());

    private static final List<Excluded> EXCLUDED = List.of(
            never("S13_operators.*|S18_.*", "names and holders that an operator can read"),
            never("S14_.*", "input that is rejected before any request, with the limit in the message"),
            never(
                    "S16_(waiters|clos|noLease).*|S01_randomOperations.*",
                    "a close that ends waits and leases, and is bounded"),
            never("S19_.*", "metadata of the application in the store"),
            never("S07_theMaximumHold.*", "a maximum hold"),
            never("S07_aCallback.*", "an executor for callbacks"),
            never("S15_.*", "a limit for the outage that a wait survives, and messages with endpoints"),
            never("capabilities_(areConstant|admin|list|fencing).*|(?!S\\d|capabilities).*", "a part of Mortise's API"),
            never(
                    "S02_(theDeadline|isHeldIsLocal|leasesOfMany|aGrantThatWasHandedOff).*"
                            + "|S05_aReleaseThatArrivesAfterTheExpiry.*|S07_renewalsContinue.*",
                    "the remaining time"),
            never(
                    "S07_(aHolderWhoseEntryWasDeleted|aForcedRelease|aRemoval|aGrantThatWasRemoved|refusedRequests|the(Removal|LossOfOne)).*",
                    "a notification that an operator deleted the entry"),
            not("S17_.*", "needs an asynchronous API; thousands of blocked threads would be counted instead"),
            not("S12_(oneClient|clients).*", "the order in which blocked threads reach the store is not known"),
            not("capabilities_connectFails.*", "needs a URL"));

    private static final Pattern WAITING =
            Pattern.compile("S09_(aBoundedWait|waits|aVeryLong|eachWaiter).*|S10_.*|S12_.*|S11_.*"
                    + "|S08_(aWaiter|aCancel|anInterrupt|aLateRequestOfAWaiter).*|S01_randomOperations.*");

    private static final Pattern RENEWING = Pattern.compile(
            "S02_renewalKeeps.*|S13_.*|S07_(a(Thousand|RenewalWithout|ShortCut)|hundreds).*|S01_history.*"
                    + "|S05_aRenewalThatIsUnderWay.*|S06_aRenewalThatArrives.*");

    /**
     * The contracts of what Mortise builds on a lock. Some libraries offer the like beside the lock, such as an election or a lock
     * of several locks, and this comparison has no adapters for that.
     */
    private static final Map<String, String> BEYOND_THE_LOCK = Map.of(
            "Election", "an election of a leader",
            "ElectionFault", "an election of a leader",
            "LockGroup", "a group of locks",
            "LeaseLock", "a lock of java.util.concurrent over a lease",
            "DelayedRelease", "a release after a delay");

    /** Tests that interrupt or cancel a wait, or close a client that waits. */
    private static final Pattern INTERRUPTING = Pattern.compile(
            "S10_.*|S08_(aWaiterThatEnded|aLateRequestOfAWaiter|aCancel|anInterrupt|cancelledRequests).*"
                    + "|S11_aWithdrawn.*|S13_similarNames.*|S16_.*");

    private PeerTestFilter() {}

    private static Excluded never(String tests, String what) {
        return new Excluded(Pattern.compile(tests), "never claimed: " + what);
    }

    private static Excluded not(String tests, String why) {
        return new Excluded(Pattern.compile(tests), "not checked: " + why);
    }

    /**
     * Returns why a test is left out for a peer; empty if it runs.
     *
     * @param test name of the test method
     * @param argument its argument as text; empty if it has none
     */
    static Optional<String> reasonToSkip(Peer peer, String test, String argument) {
        if (argument.equals("ASYNC")) {
            return Optional.of("not checked: the adapters use the blocking API");
        }
        Optional<String> beyond = KitContracts.of(test).map(BEYOND_THE_LOCK::get);
        if (beyond.isPresent()) {
            return Optional.of("not checked: the adapters have locks alone, not " + beyond.get());
        }
        if (CAPABILITIES_CHECKED_OTHERWISE.contains(argument)) {
            return Optional.of("not checked: a part of Mortise's API");
        }
        if (test.startsWith("S03_") && !peer.capabilities().contains(Capability.FENCING)) {
            return Optional.of("never claimed: a fencing token");
        }
        if (argument.equals(Capability.FENCING.name()) && !peer.capabilities().contains(Capability.FENCING)) {
            return Optional.of("never claimed: a fencing token");
        }
        if (test.startsWith("S12_") && !peer.capabilities().contains(Capability.FAIR)) {
            return Optional.of("never claimed: a fair order");
        }
        if (test.startsWith("S13_") && peer.store() == StoreKind.ZOOKEEPER) {
            return Optional.of("never claimed: any string as a name (the application chooses a path)");
        }
        if (test.startsWith("S04_") && (peer.ownedByThread() || test.contains("TwiceWaits"))) {
            return Optional.of("never claimed: a lock that belongs to no thread, and no owner id");
        }
        if (peer.store() == StoreKind.REDIS_MASTERS
                && INTERRUPTING.matcher(test).matches()) {
            return Optional.of(
                    "not checked: an interrupted wait goes on without a pause, and disturbs the tests that follow");
        }
        // Lock.tryLock() of the JDK, which most of the libraries implement, cannot be interrupted.
        if (test.startsWith("S10_eachCall") && argument.equals("tryAcquire")) {
            return Optional.of("never claimed: an interrupt of a try that does not wait");
        }
        return EXCLUDED.stream()
                .filter(each -> each.tests.matcher(test).matches())
                .map(Excluded::reason)
                .findFirst()
                .or(() -> missingClaim(peer, test).map(claim -> "never claimed: " + claim.description()));
    }

    /** Returns a promise that the whole test depends on and that the peer does not make. */
    private static Optional<Claim> missingClaim(Peer peer, String test) {
        Set<Claim> claims = peer.claims();
        boolean knows = claims.contains(Claim.HELD_CHECK) || claims.contains(Claim.LOSS_NOTIFICATION);
        // A worker that the missing promise aborts would keep its lock, and the others would wait for it.
        if (!knows && test.startsWith("S01_history")) {
            return Optional.of(Claim.HELD_CHECK);
        }
        // These tests end without a further check when no notification arrives.
        if (!claims.contains(Claim.LOSS_NOTIFICATION) && test.startsWith("S06_anExpiredGrant")) {
            return Optional.of(Claim.LOSS_NOTIFICATION);
        }
        if (!claims.contains(Claim.WAITING) && WAITING.matcher(test).matches()) {
            return Optional.of(Claim.WAITING);
        }
        if (!claims.contains(Claim.RENEWAL) && RENEWING.matcher(test).matches()) {
            return Optional.of(Claim.RENEWAL);
        }
        return Optional.empty();
    }
}
