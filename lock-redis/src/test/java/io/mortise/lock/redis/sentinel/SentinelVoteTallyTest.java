// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.sentinel.SentinelReply.HostAndPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which replies of sentinels are a majority. */
class SentinelVoteTallyTest {
    private static final InetSocketAddress SERVER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 6379);

    private static SentinelReply answer(String runId, int port, int others) {
        Set<HostAndPort> known = new HashSet<>();
        for (int i = 0; i < others; i++) {
            known.add(new HostAndPort("other", i + 1));
        }
        return new SentinelReply(runId, "master:" + port, Set.of(InetAddress.getLoopbackAddress()), port, known);
    }

    @Test
    void S01_aMinorityOfAllKnownSentinelsConfirmsNothing() {
        SentinelVoteTally votes = new SentinelVoteTally(SERVER, 1);
        votes.add(answer("a", 6379, 4));
        votes.add(answer("b", 6379, 4));
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
        votes.add(answer("c", 6379, 4));
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isTrue();
    }

    @Test
    void S01_aSentinelThatKnowsNoOthersIsNoMajorityOfTheConfiguredOnes() {
        SentinelVoteTally votes = new SentinelVoteTally(SERVER, 3);
        votes.add(answer("a", 6379, 0));
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
    }

    @Test
    void S01_oneSentinelUnderTwoAddressesCountsOnce() {
        SentinelVoteTally votes = new SentinelVoteTally(SERVER, 3);
        assertThat(votes.add(answer("a", 6379, 2))).isTrue();
        assertThat(votes.add(answer("a", 6379, 2))).isFalse();
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(votes.sentinels()).isEqualTo(3);
        assertThat(votes.addressesWorthQuerying()).as("another address").isEqualTo(4);
    }

    @Test
    void S01_anotherPortOfTheSameHostIsAnotherServer() {
        SentinelVoteTally votes = new SentinelVoteTally(SERVER, 3);
        votes.add(answer("a", 6379, 2));
        votes.add(answer("b", 6380, 2));
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(votes.verdict(List.of(), List.of()).majority()).isFalse();
        votes.add(answer("c", 6380, 2));
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
        assertThat(votes.verdict(List.of(), List.of()).majority()).isTrue();
        assertThat(votes.verdict(List.of(), List.of()).named())
                .map(SentinelReply::port)
                .contains(6380);
    }

    @Test
    void S15_aQueryForAnyMasterReturnsTheOneThatMostSentinelsName() {
        SentinelVoteTally votes = new SentinelVoteTally(null, 3);
        assertThat(votes.verdict(List.of(), List.of()).named()).isEmpty();
        votes.add(answer("a", 6379, 2));
        assertThat(votes.verdict(List.of(), List.of()).majority()).isFalse();
        assertThat(votes.verdict(List.of(), List.of()).named())
                .map(SentinelReply::port)
                .contains(6379);
        votes.add(answer("b", 6380, 2));
        votes.add(answer("c", 6380, 2));
        assertThat(votes.verdict(List.of(), List.of()).majority()).isTrue();
        assertThat(votes.verdict(List.of(), List.of()).named())
                .map(SentinelReply::port)
                .contains(6380);
        assertThat(votes.verdict(List.of(), List.of()).confirmed()).isFalse();
    }
}
