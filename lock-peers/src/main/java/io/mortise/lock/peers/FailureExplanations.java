// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The manually verified explanations of known test failures, most specific first. */
final class FailureExplanations {
    private static final String HELD_AGAIN = "held again after it had ended";
    private static final String NOT_HELD_AND_RELEASED = "reported as not held, and then RELEASED";

    private static final List<FailureExplanation> ALL = List.of(
            failed(
                    peer -> peer.id().startsWith("curator-semaphore"),
                    "S08_an?(Interrupt|Cancel)ThatRaces.*|S11_aWithdrawn.*",
                    "of a withdrawal|not free|the waiter that stays is granted",
                    "An interrupted acquire can leave a lease node, and with it the lock, for the whole session",
                    """
                    If an interrupt of `InterProcessSemaphoreMutex.acquire()` coincides with the grant, the call throws an InterruptedException, and
                    can leave its node under `leases` behind. The session goes on, so the node stays: nobody holds the lock, and nobody can
                    acquire it until that client is closed. `InterProcessMutex` passes the same tests. An issue of the same kind was closed as
                    fixed; which step leaves the node now, we have not found out.""",
                    "CuratorReproductionTest.anInterruptedAcquireOfASemaphoreMutexLeavesALeaseNodeForTheWholeSession",
                    Optional.of("https://github.com/apache/curator/issues/982")),
            failed(
                    peer -> peer.store() == StoreKind.ZOOKEEPER,
                    "S09_waitsOnASilentStoreAreBounded",
                    "a wait of PT\\S+\\] \\| Expecting actual",
                    "A timed acquire takes many seconds longer while the server is silent",
                    """
                    The Javadoc of `InterProcessLock.acquire(time, unit)` says "blocks until it's available or the given time expires". Only the
                    wait for the node ahead is limited: `LockInternals.attemptLock` first creates its node, by a call that knows nothing of the
                    limit. While the server is silent, that call lasts until the session times out, is repeated by the retry policy, and
                    fails with an exception. A caller that has promised an answer within 300 ms has none after 20 s. Spring Integration
                    works around it in its registry.""",
                    "CuratorReproductionTest.aTimedAcquireTakesMuchLongerWhileTheServerIsSilent",
                    Optional.of("https://github.com/spring-projects/spring-integration/issues/1863")),
            failed(
                    peer -> peer.id().startsWith("redisson-red"),
                    "S10_an.*|S08_aWaiterThatEnded.*|S10_aCancel.*|S08_aCancel.*|S08_anInterrupt.*",
                    "no outcome in|not free|of a withdrawal",
                    "A wait for a RedissonRedLock survives an interrupt",
                    """
                    `RLock.lockInterruptibly` promises an InterruptedException. `RedissonMultiLock.tryLock`, on which `RedissonRedLock` is built, catches
                    every exception of the single locks, that one included, and takes it for a lock that is busy: the interrupt is lost, and the
                    thread waits until it gets the lock, which then nobody expects.""",
                    "RedissonReproductionTest.aWaitForARedLockSurvivesAnInterrupt",
                    Optional.empty()),
            failed(
                    peer -> peer.id().startsWith("redisson-fair"),
                    "S10_.*|S08_an?(Interrupt|Cancel)ThatRaces.*|S08_aWaiterThatEnded.*|S08_aLateRequestOfAWaiter.*"
                            + "|S08_cancelledRequests.*|S11_aWithdrawn.*|S12_aWithdrawn.*",
                    "^(?!.*RedisException: java.lang.InterruptedException).*"
                            + "(not free|the lock is free: not within|of a withdrawal|waiter that stay(s|ed)|no outcome in)",
                    "An interrupted waiter of a fair lock stays in the queue for minutes, and nobody behind it gets the lock",
                    """
                    The documentation of fair locks says "if some thread has died then Redisson waits its return for 5 seconds". If a thread that waits is
                    interrupted, `RedissonLock.lock` throws the InterruptedException, and does not remove the thread from the queue, as
                    `acquireFailed` does after a timed try. The entry stays for the remaining lease and `fairLockWaitTimeout`, by default 5 minutes, after
                    the wait began. Until then the lock is free, and others wait. The same after a timeout of Redis was reported and mended.""",
                    "RedissonReproductionTest.anInterruptedWaiterOfAFairLockBlocksThoseBehindIt",
                    Optional.of("https://github.com/redisson/redisson/issues/5019")),
            notChecked(
                    peer -> peer.id().startsWith("redisson-fair"),
                    "S13_similarNames.*",
                    "not free|no outcome in",
                    "a waiter that the test cancels blocks those behind it, which counts under S10"),
            failed(
                    peer -> peer.id().startsWith("redisson-fair"),
                    "S05_.*Delet.*",
                    "expected: LOST \\| but was: RELEASED",
                    "An unlock of a fair lock that has ended throws nothing",
                    """
                    The documentation says, also of fair locks, "only lock owner thread can unlock it otherwise IllegalMonitorStateException would be
                    thrown". The script of `RedissonFairLock.unlockInnerAsync` reports success if the lock's key does not exist, as after an expiry or a
                    deletion, before it asks who holds the lock. So a holder whose lock has ended is not told; with `getLock` it is.""",
                    "RedissonReproductionTest.anUnlockOfAFairLockThatHasExpiredThrowsNothing",
                    Optional.empty()),
            notChecked(
                    peer -> peer.id().startsWith("redisson-fair"),
                    "S06_.*Delet.*",
                    "expected: LOST \\| but was: RELEASED",
                    "an unlock that is not told the loss, which counts under S05"),
            unclaimed(
                    peer -> peer.id().startsWith("redisson-fair"),
                    "S01_history.*",
                    onlyViolations("free for", HELD_AGAIN, NOT_HELD_AND_RELEASED) + ".*S8: free for",
                    "a bound for the time that the lock stays free behind waiters that failed (the recorded history broke no other rule)"),
            notChecked(
                    peer -> peer.id().startsWith("redisson"),
                    "S10_eachCall.*",
                    "Expecting code to raise a throwable",
                    "the reply came before the call noticed the interrupt, so the lock was granted"),
            failed(
                    peer -> peer.id().startsWith("redisson"),
                    "S10_.*|S08_an?(Interrupt|Cancel)ThatRaces.*|S08_aWaiterThatEnded.*|S08_cancelledRequests.*|S11_aWithdrawn.*",
                    "RedisException: java.lang.InterruptedException|not free|was: <io.mortise.lock.BackendUn|of a withdrawal"
                            + "|the waiter that stays is granted",
                    "An interrupt during a request is no InterruptedException, and can leave a lock that is renewed for ever",
                    """
                    The Javadoc of `RLock.lockInterruptibly` says "throws InterruptedException - if the thread is interrupted". While a request is
                    pending, `CommandAsyncService.get` throws a `RedisException` with the InterruptedException as its cause; a thread that was interrupted
                    before the call gets the same (`aThreadThatWasInterruptedBeforeGetsNoInterruptedException`). If the server has granted that
                    request, the reply still starts the watchdog (`RedissonLock.tryAcquireAsync`): nobody holds the lock, nobody can
                    release it, and it is renewed until the client is shut down. Other clients do not get it within four leases.""",
                    "RedissonReproductionTest.anInterruptAfterTheGrantLeavesALockThatIsRenewedForever",
                    Optional.of("https://github.com/redisson/redisson/issues/5358")),
            failed(
                    peer -> peer.id().startsWith("redisson-fenced"),
                    "S09_zeroIsOneAttempt",
                    "timed out after",
                    "tryLockAndGetToken() waits until the lock is free",
                    """
                    The Javadoc of `RFencedLock.tryLockAndGetToken()` says "fencing token if lock acquired otherwise null". `RedissonFencedLock` passes
                    a wait of -1, and takes a negative wait for one without a limit: while another client holds the lock, the call does
                    not return. (The adapter therefore uses `tryLock()` and `getToken()`.)""",
                    "RedissonReproductionTest.aTryOfAFencedLockThatIsHeldWaitsUntilItIsReleased",
                    Optional.empty()),
            failed(
                    peer -> peer.id().equals("spring-zookeeper"),
                    "S09_zeroIsOneAttempt",
                    "one attempt",
                    "tryLock() waits a second for a lock that is held",
                    """
                    `java.util.concurrent.locks.Lock.tryLock()` says "if the lock is not available then this method will return immediately with the
                    value false". `ZookeeperLockRegistry` calls `tryLock(1, TimeUnit.SECONDS)`, and so waits for a second. The change that introduced
                    it says that this is not ideal for the contract, but better than a try that never succeeds.""",
                    "SpringReproductionTest.tryLockOnZooKeeperWaitsASecondForALockThatIsHeld",
                    Optional.of("https://github.com/spring-projects/spring-integration/pull/1914")),
            failed(
                    peer -> peer.id().startsWith("spring-redis"),
                    "S10_(?!eachCall).*|S08_anInterruptThatRaces.*",
                    "BackendUnavailable",
                    "An interrupt is no InterruptedException",
                    """
                    `java.util.concurrent.locks.Lock` says of `tryLock(time, unit)` and `lockInterruptibly()` that an interrupt throws
                    InterruptedException. In `RedisLockRegistry`, `tryLock(time, unit)` catches every exception, that one included, and
                    throws a `CannotAcquireLockException`; so does `lockInterruptibly()` while a request is pending. The interrupt itself
                    works: both end at once.""",
                    "SpringReproductionTest.anInterruptOnRedisIsReportedAsACannotAcquireLockException",
                    Optional.empty()),
            failed(
                    peer -> peer.id().equals("spring-jdbc"),
                    "S10_(?!eachCall|anInterruptReturnsAtOnceThough).*|S08_anInterruptThatRaces.*",
                    "BackendUnavailableException: .*CannotAcquireLockException",
                    "An interrupt of a timed try is no InterruptedException",
                    """
                    `java.util.concurrent.locks.Lock` says of `tryLock(time, unit)` that an interrupt throws InterruptedException. In
                    `JdbcLockRegistry` the pause between two tries throws it, and `tryLock(time, unit)` catches every exception, that one included, and
                    throws a `CannotAcquireLockException`, without setting the interrupt flag again. The wait itself ends at once.
                    `lockInterruptibly()` keeps the contract.""",
                    "SpringReproductionTest.anInterruptOfATimedTryOnJdbcIsReportedAsACannotAcquireLockException",
                    Optional.empty()),
            failed(
                    peer -> peer.id().equals("spring-redis-renewed"),
                    "S05_aReleaseWhoseReplyWasLost.*|S08_aReleaseDuringACut.*",
                    "No value present|no outcome in",
                    "An unlock that fails leaves a lock that is renewed for ever",
                    """
                    With `setRenewalTaskScheduler`, `RedisLock.removeLockKey` stops the renewal only after it has removed the key. If that request fails,
                    because the server is silent or the connection is cut, `unlock()` throws and gives up the local lock, so that a second `unlock()` says
                    "You do not own lock"; but the scheduled task goes on and renews the key. Other processes do not get the lock within
                    five leases. It ends only when the same registry acquires the lock once more, or its process ends.""",
                    "SpringReproductionTest.anUnlockThatFailsOnRedisLeavesALockThatIsRenewedForever",
                    Optional.empty()),
            unclaimed(
                    peer -> peer.id().startsWith("spring"),
                    "S05_(aReleaseRightAfterADeletion|theCleanupOfADeletedGrant).*",
                    "No value present|no outcome in",
                    "a lock that threads of the same process can take over from a holder whose entry is gone"),
            unclaimed(
                    peer -> peer.id().equals("spring-redis-renewed"),
                    "S08_anAcquireThatGaveUp.*|CRASH_RELEASE",
                    "until the cleanup is done",
                    "a waiter that notices an expired lock before its own time is over"),
            failed(
                    peer -> peer instanceof JetcdPeer,
                    "S11_aWaiterOutlivesItsSession.*",
                    "expected: RELEASED \\| but was: LOST|after its first session",
                    "A waiter whose lease has ended is granted the lock, beside another holder",
                    """
                    The lock service binds a lock to a lease: if the lease ends, the lock is released. But a waiter whose lease has ended, and whose key
                    is gone, still waits for the keys ahead of its own, and is then told that it has the lock. At the same time the lock is
                    granted to another client. Shown with etcd 3.4.23; the defect is in the server, not in jetcd.""",
                    "JetcdReproductionTest.aWaiterWhoseLeaseHasEndedIsGrantedALockThatAnotherHolds",
                    Optional.of("https://github.com/etcd-io/etcd/issues/11456")),
            failed(
                    peer -> peer instanceof JetcdPeer,
                    "S13_distinctNamesNeverCollide",
                    "\"(.+)\" \\(\\d+ bytes?\\) cannot be acquired while \"\\1/",
                    "A lock waits for another whose name begins with its own and a slash",
                    """
                    The lock service calls the name "the identifier for the distributed shared lock". It stores each waiter as the name, a slash and the
                    lease, and waits for all older keys with that prefix: a waiter for `lock` also waits for the holder of `lock/42`. The
                    defect is in the server, not in jetcd. A question about it was closed without an answer whether that is intended.""",
                    "JetcdReproductionTest.aLockWaitsForAnotherWhoseNameBeginsWithItsOwnAndASlash",
                    Optional.of("https://github.com/etcd-io/website/issues/710")),
            unclaimed(
                    peer -> peer instanceof JetcdPeer,
                    "S09_zeroIsOneAttempt",
                    "one attempt",
                    "an attempt that does not wait (the adapter waits for a second)"),
            notChecked(
                    peer -> peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    "S06_aGrantThatWasDeletedDuringACut.*",
                    "the waiter for \"kept\" is granted it: not within",
                    "the client reports a loss, but keeps the lock until the application releases it, which this test does not do"),
            unclaimed(
                    peer -> peer instanceof JetcdPeer,
                    "S05_lateReleases.*|S06_anExpiry.*",
                    "the leases end by themselves",
                    "a bound for the notification of a loss (without a reply to the first keep-alive, jetcd reports the end 10 s later)"),
            unclaimed(
                    peer -> peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    "S06_aRemovedGrant.*|S05_theCleanupOfADeletedGrant.*|S06_aGrantThatWasDeleted.*",
                    "detects its loss|the loss is announced|the losses are detected",
                    "a notification that an operator deleted the entry"),
            unclaimed(
                    peer -> peer instanceof JetcdPeer,
                    "S02_aSilentHolders.*|S01_history.*",
                    "two leases are held|S1: two leases held at once",
                    "a notification of a loss before the next waiter is granted the lock"),
            failed(
                    peer -> peer.id().startsWith("spring-redis"),
                    "S09_waitsOfManyLengths.*",
                    "S09: a wait of PT(2\\.345|7\\.25)",
                    "A timed try behind another thread of the same process waits for twice its time",
                    """
                    `RedisLock.tryLock(waitTime, ttl)` waits up to the whole time for the local lock that the threads of a process share, and then again up to
                    the whole time for the key. If another thread is ahead for most of that time and gives up, the call takes almost
                    twice as long; this comparison accepts 3 s beyond the limit.""",
                    "SpringReproductionTest.aTimedTryOnRedisBehindAnotherThreadWaitsTwiceItsTime",
                    Optional.empty()),
            unclaimed(
                    peer -> peer.id().equals("shedlock-redis"),
                    "S05_.*",
                    "the (next holder|successor)'s lock",
                    "an unlock after lockAtMostFor that spares the next holder (its README calls that case unpredictable; safeUpdate(true) spares it)"),
            unclaimed(
                    peer -> peer.store() == StoreKind.REDIS,
                    "S08_anAcquireThatGaveUp.*",
                    "until the cleanup is done",
                    "the cleanup of a grant whose reply was lost, before it expires"),
            unclaimed(
                    peer -> peer.id().startsWith("spring-redis"),
                    "S08_(an?(Interrupt|Cancel)ThatRaces|aWaiterThatEnded|aLateRequestOfAWaiter|cancelledRequests).*"
                            + "|S10_theSecondWaiter.*|S10_aCancel.*|S11_aWithdrawn.*",
                    "not free|of a withdrawal|the lock is free: not within|waiter that stay(s|ed)",
                    "the cleanup of a grant that coincides with an interrupt, before it expires"),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.WAITING),
                    "S08_anAcquireIsGranted.*",
                    "two leases are held",
                    Claim.WAITING.description()),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.RENEWAL),
                    "S09_waitsOfManyLengths.*",
                    "granted while another client holds the lock",
                    Claim.RENEWAL.description()),
            unclaimed(
                    peer -> peer.id().equals("spring-jdbc"),
                    "S09_aBoundedWaitEndsAtItsBoundWhile.*",
                    "beyond maxWait",
                    "a limit for the statements that are under way when the time is over"),
            unclaimed(
                    peer -> peer.id().equals("spring-jdbc"),
                    "S10_anInterruptReturnsAtOnceThough.*",
                    "BackendUnavailable",
                    "an interrupt of a statement, which the database driver decides"),
            unclaimed(
                    peer -> true,
                    "S11_waitersSurviveAShortCut",
                    "BackendUnavailable|Expecting value to be (false but was true|true but was false)",
                    "a wait that outlasts a cut connection, instead of failing with an error"),
            unclaimed(
                    peer -> true,
                    KitContracts.testsOf("LostReply", "CutLink", "SilentLink", "SlowLink", "Restart"),
                    "^(CompletionException: \\S*)?BackendUnavailableException",
                    "a call that outlasts a lost reply or a cut link, instead of failing with an error"),
            unclaimed(
                    peer -> true,
                    "S08_(anAcquire|aLostReply|aLateRequest|theLock|theCleanupOfALostReply).*|S05_aReleaseWhoseReply.*",
                    "^BackendUnavailableException",
                    "a call that outlasts a lost reply or a cut link, instead of failing with an error"),
            unclaimed(peer -> true, "S08_aReleaseDuringACut.*", "\\[release\\]", "a release that is bounded"),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    "S01_history.*",
                    "losses=0 .*violations=0\\] \\| Expecting actual: \\| 0L",
                    Claim.LOSS_NOTIFICATION.description() + " (the recorded history itself broke no rule)"),
            unclaimed(
                    peer -> peer.claims().contains(Claim.HELD_CHECK),
                    "S01_history.*",
                    onlyViolations(HELD_AGAIN, NOT_HELD_AND_RELEASED),
                    "a check whether the lock is held that needs no reply (a check without a reply counted as not held, the next one as held)"),
            notChecked(
                    peer -> peer.store() == StoreKind.ZOOKEEPER && peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    "S11_aWaiterOutlivesItsSession",
                    "expected: RELEASED \\| but was: LOST|after its first session",
                    "the waiter is granted the lock, but the adapter's listener then receives the event of the first session"),
            notChecked(
                    peer -> peer.store() == StoreKind.ZOOKEEPER && peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    "S06_aRenewalThatArrivesAfterTheRelease.*",
                    "expected: RELEASED \\| but was: LOST",
                    "a link so slow that ZooKeeper's client suspends the connection, which ends the lease in the adapter's listener"),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.RELEASE_RESULT),
                    "S05_theCleanupOfAnExpiredGrant.*",
                    "expected: RELEASED \\| but was: UNKNOWN",
                    Claim.RELEASE_RESULT.description()),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.HELD_CHECK),
                    "S02_aGrantThatArrivesAfterItsLease.*",
                    "a late grant is held",
                    Claim.HELD_CHECK.description()),
            notChecked(
                    peer -> true,
                    "S08_aRequestThatArrivesLongAfterItsWithdrawal.*",
                    "Expecting actual not to be null",
                    "the attempt did not fail, so no request arrived after a withdrawal"),
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
                    peer -> true,
                    "S08_anAcquireThatGaveUp.*",
                    "\\[S09\\] \\| Expecting actual: \\| [3-5]\\.\\d+S \\| to be less than: \\| 3\\.05S",
                    "a bound of 50 ms for what exceeds the limit of a wait"),
            unclaimed(
                    peer -> peer.claims().contains(Claim.HELD_CHECK),
                    "S05_lateReleasesOfMany.*",
                    "timed out after|end by themselves: not within",
                    "a check whether the lock is held that needs no reply (each of 80 checks waits for its timeout)"),
            unclaimed(
                    peer -> !peer.claims().contains(Claim.LOSS_NOTIFICATION),
                    ".*",
                    "S07|the loss is|is notified",
                    Claim.LOSS_NOTIFICATION.description()),
            unclaimed(
                    peer -> peer.store() == StoreKind.ZOOKEEPER,
                    "S16_theClientsThreadsEnd",
                    "Curator-SafeNotifyService",
                    "a close that ends all threads (Curator 5.9.0 keeps an idle daemon thread, its main branch ends it)"),
            unclaimed(peer -> true, "S12_.*", "waiter of the closed client", "a close that ends waits"),
            unclaimed(
                    peer -> true,
                    "S16_closingOneClient.*|S10_waitersThatLeave.*",
                    "instance of: \\| io.mortise.lock.ClientClosedException \\| but was: \\| \\S*CompletionException: java.lang.InterruptedException",
                    "a close that ends waits"),
            unclaimed(
                    peer -> true,
                    "S09_.*|S08_.*|S15_.*|S03_.*",
                    "S15: |Expecting code to raise a throwable|no reply must not",
                    "a result that tells \"no reply\" from \"busy\""));

    private FailureExplanations() {}

    private static FailureExplanation unclaimed(Predicate<Peer> peers, String tests, String messages, String title) {
        return harmless(peers, tests, messages, Verdict.NEVER_CLAIMED, title);
    }

    private static FailureExplanation notChecked(Predicate<Peer> peers, String tests, String messages, String title) {
        return harmless(peers, tests, messages, Verdict.NOT_CHECKED, title);
    }

    private static FailureExplanation harmless(
            Predicate<Peer> peers, String tests, String messages, Verdict verdict, String title) {
        return new FailureExplanation(
                peers, Pattern.compile(tests), Pattern.compile(messages), verdict, title, "", "", Optional.empty());
    }

    private static FailureExplanation failed(
            Predicate<Peer> peers,
            String tests,
            String messages,
            String title,
            String text,
            String reproduction,
            Optional<String> issue) {
        return new FailureExplanation(
                peers,
                Pattern.compile(tests),
                Pattern.compile(messages),
                Verdict.FAILED,
                title,
                text,
                reproduction,
                issue);
    }

    /** Returns a pattern of the message of a recorded history that has violations of these kinds and no others. */
    private static String onlyViolations(String... kinds) {
        return "violations=[1-9]\\d* (?!.*\\| S\\d+: (?!" + String.join("|", kinds) + "))";
    }

    /** Returns all explanations. */
    static List<FailureExplanation> all() {
        return ALL;
    }

    /** Returns the explanation of a failure; empty if nobody has found it yet. */
    static Optional<FailureExplanation> of(Peer peer, TestRecord record) {
        return ALL.stream().filter(each -> each.explains(peer, record)).findFirst();
    }
}
