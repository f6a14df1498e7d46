// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermEnd;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Tests that candidates of an {@link Election} on one lock lead one after the other. */
interface ElectionContract extends Contract {
    int TERMS = 6;

    @Test
    default void S01_oneCandidateOfAnElectionLeads() throws Exception {
        List<LockClient> clients = List.of(fixture().client(), fixture().client());
        AtomicInteger leaders = new AtomicInteger();
        AtomicInteger mostLeaders = new AtomicInteger();
        AtomicInteger terms = new AtomicInteger();
        List<ElectionCandidate> candidates = clients.stream()
                .map(client -> ElectionCandidate.start(client.named("x"), term -> {
                    mostLeaders.accumulateAndGet(leaders.incrementAndGet(), Math::max);
                    LockSupport.parkNanos(1_000_000); // the time in which a second leader would be seen
                    leaders.decrementAndGet();
                    terms.incrementAndGet(); // a body that returns resigns
                }))
                .toList();
        ContractTestFixture.eventually(TERMS + " terms", ContractTestFixture.LONG, () -> terms.get() >= TERMS);
        candidates.forEach(ElectionCandidate::close);
        assertThat(mostLeaders).as("S01: leaders at the same time").hasValue(1);
        assertThat(candidates)
                .allSatisfy(candidate ->
                        assertThat(candidate.failures()).as("failures").isEmpty());
        fixture().assertFree(clients.get(0), "x");
    }

    /** One scenario for S03 and S05. */
    @Test
    default void S05_aLeaderThatResignsHandsOverAfterItsBody() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        CountDownLatch ending = new CountDownLatch(1);
        ElectionPair pair = ElectionPair.start(
                one.named("x"),
                term -> awaitIgnoringInterrupts(ending),
                two,
                two.named("x"),
                ElectionCandidate.blockingOnce());
        ElectionCandidate leader = pair.leader();
        assertThat(leader.election().isLeading()).isTrue();
        leader.election().resign();
        assertThat(pair.first().isOver()).as("S05: over from the call on").isTrue();
        leader.awaitStop(pair.first(), ContractTestFixture.PROMPT);
        assertThat(leader.election().isLeading()).isFalse();
        ContractTestFixture.throughout("the body has not ended", Duration.ofMillis(300), () -> {
            assertThat(pair.next().terms()).as("S05: terms of the next leader").isZero();
            assertThat(leader.runningBodies()).as("bodies of the first leader").isEqualTo(1);
        });
        ending.countDown();
        Term second = pair.awaitNext(ContractTestFixture.LONG);
        assertThat(second.isOver()).isFalse();
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.RESIGNED);
        int earlier = leader.terms(); // if the store keeps no queue, it may have led again in between
        pair.next().election().resign();
        pair.assertLater(second, leader.awaitTerm(earlier + 1, ContractTestFixture.LONG));
        pair.close();
        fixture().assertFree(two, "x");
    }

    @Test
    default void S05_aLeaderThatClosesHandsOver() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ElectionPair pair = ElectionPair.start(
                one.named("x"),
                ElectionCandidate.untilStopped(),
                two,
                two.named("x"),
                ElectionCandidate.untilStopped());
        ElectionCandidate leader = pair.leader();
        leader.close();
        assertThat(leader.runningBodies()).as("bodies after close()").isZero();
        assertThat(pair.first().isOver()).isTrue();
        assertThat(leader.awaitEnds(1)).containsExactly(TermEnd.CLOSED);
        pair.awaitNext(ContractTestFixture.LONG);
        assertThat(leader.election().isRunning()).isFalse();
        pair.close();
        fixture().assertFree(one, "x");
    }

    /** The body ends with the interrupt, but a callback of the stop still ends its work. */
    @Test
    default void S05_aLeaderHandsOverAfterTheCallbacksOfItsStop() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        CountDownLatch bodyEnded = new CountDownLatch(1);
        CountDownLatch ending = new CountDownLatch(1);
        ElectionPair pair = ElectionPair.start(
                one.named("x"),
                term -> {
                    term.onStop(() -> awaitIgnoringInterrupts(ending));
                    try {
                        ElectionCandidate.untilStopped().lead(term);
                    } finally {
                        bodyEnded.countDown();
                    }
                },
                two,
                two.named("x"),
                ElectionCandidate.untilStopped());
        CompletableFuture<?> ended = pair.leader().election().closeAsync();
        awaitIgnoringInterrupts(bodyEnded);
        ContractTestFixture.throughout("a callback runs", Duration.ofMillis(300), () -> {
            assertThat(pair.next().terms()).as("S05: terms of the next leader").isZero();
            assertThat(ended).isNotDone();
        });
        ending.countDown();
        Term second = pair.awaitNext(ContractTestFixture.LONG);
        assertThat(pair.stopAfterStartOf(second))
                .as("S05: from the next term to the stop of the first")
                .isNegative();
        ApiStyle.result(ended);
        assertThat(pair.leader().awaitEnds(1)).containsExactly(TermEnd.CLOSED);
        pair.close();
        fixture().assertFree(one, "x");
    }

    @Test
    default void S10_aCandidateThatClosesLeavesNoWaiter() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ElectionCandidate leader = ElectionCandidate.start(one.named("x"));
        Term term = leader.awaitTerm(1, ContractTestFixture.LONG);
        ElectionCandidate waiting = ElectionCandidate.start(two.named("x"));
        ContractTestFixture.awaitWaiters(one, "x", 1);
        long closing = System.nanoTime();
        waiting.close();
        assertThat(DurationAssertions.since(closing))
                .as("S10: close() of a candidate that waits")
                .isLessThan(ContractTestFixture.PROMPT);
        fixture().assertNoWaiters(one, "x");
        assertThat(waiting.terms()).isZero();
        assertThat(term.isOver()).isFalse();
        leader.close();
        fixture().assertFree(two, "x");
    }

    @Test
    default void S18_everyCandidateCanNameTheLeader() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.admin(two, "S18 for the leader of an election");
        LockOptions named = LockOptions.defaults().metadata(Map.of("candidate", "one"));
        ElectionCandidate leader = ElectionCandidate.start(one.named("x", named));
        Term term = leader.awaitTerm(1, ContractTestFixture.LONG);
        ElectionCandidate other = ElectionCandidate.start(two.named("x"));
        assertThat(ContractTestFixture.await(other.election().leader()))
                .as("S18: the leader")
                .hasValueSatisfying(holder -> {
                    if (one.capabilities().contains(Capability.HOLDER_INFO)) {
                        assertThat(holder.metadata()).containsEntry("candidate", "one");
                    }
                    holder.token().ifPresent(token -> assertThat(token).isEqualTo(term.epoch()));
                });
        other.close();
        leader.close();
        assertThat(ContractTestFixture.await(other.election().leader()))
                .as("S18: the leader after both have closed")
                .isEmpty();
    }

    private static void awaitIgnoringInterrupts(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                Thread.interrupted(); // the body ignores its stop
            }
        }
    }
}
