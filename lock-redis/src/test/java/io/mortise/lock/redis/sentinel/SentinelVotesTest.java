// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.sentinel.SentinelAnswer.HostAndPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which answers of sentinels are a majority. */
class SentinelVotesTest {
    private static final InetSocketAddress SERVER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 6379);

    private static SentinelAnswer answer(String runId, int port, int others) {
        Set<HostAndPort> known = new HashSet<>();
        for (int i = 0; i < others; i++) {
            known.add(new HostAndPort("other", i + 1));
        }
        return new SentinelAnswer(runId, "master:" + port, Set.of(InetAddress.getLoopbackAddress()), port, known);
    }

    @Test
    void S01_aMinorityOfAllThatSentinelsKnowConfirmsNothing() {
        SentinelVotes ballot = new SentinelVotes(SERVER, 1);
        ballot.add(answer("a", 6379, 4));
        ballot.add(answer("b", 6379, 4));
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
        ballot.add(answer("c", 6379, 4));
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isTrue();
    }

    @Test
    void S01_oneThatKnowsOfNobodyElseIsNoMajorityOfThoseThatWereConfigured() {
        SentinelVotes ballot = new SentinelVotes(SERVER, 3);
        ballot.add(answer("a", 6379, 0));
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
    }

    @Test
    void S01_oneSentinelUnderTwoAddressesCountsOnce() {
        SentinelVotes ballot = new SentinelVotes(SERVER, 3);
        assertThat(ballot.add(answer("a", 6379, 2))).isTrue();
        assertThat(ballot.add(answer("a", 6379, 2))).isFalse();
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(ballot.sentinels()).isEqualTo(3);
        assertThat(ballot.worthAsking()).as("another address").isEqualTo(4);
    }

    @Test
    void S01_anotherPortOfTheSameHostIsAnotherServer() {
        SentinelVotes ballot = new SentinelVotes(SERVER, 3);
        ballot.add(answer("a", 6379, 2));
        ballot.add(answer("b", 6380, 2));
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(ballot.verdict(List.of(), List.of()).majority()).isFalse();
        ballot.add(answer("c", 6380, 2));
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(ballot.verdict(List.of(), List.of()).majority()).isTrue();
        assertThat(ballot.verdict(List.of(), List.of()).named())
                .map(SentinelAnswer::port)
                .contains(6380);
    }

    @Test
    void S15_aQuestionForAnyMasterIsAnsweredByTheOneThatMostName() {
        SentinelVotes ballot = new SentinelVotes(null, 3);
        assertThat(ballot.verdict(List.of(), List.of()).named()).isEmpty();
        ballot.add(answer("a", 6379, 2));
        assertThat(ballot.verdict(List.of(), List.of()).majority()).isFalse();
        assertThat(ballot.verdict(List.of(), List.of()).named())
                .map(SentinelAnswer::port)
                .contains(6379);
        ballot.add(answer("b", 6380, 2));
        ballot.add(answer("c", 6380, 2));
        assertThat(ballot.verdict(List.of(), List.of()).majority()).isTrue();
        assertThat(ballot.verdict(List.of(), List.of()).named())
                .map(SentinelAnswer::port)
                .contains(6380);
        assertThat(ballot.verdict(List.of(), List.of()).confirmed()).isFalse();
    }
}
