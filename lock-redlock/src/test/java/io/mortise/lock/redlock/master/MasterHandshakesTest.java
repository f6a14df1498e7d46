// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests what follows from the replies to handshakes, in whatever order and on whatever threads they come. */
class MasterHandshakesTest {
    private static List<Integer> voting(RedlockMasters masters) {
        return masters.all().stream()
                .filter(master -> master.voting() != null)
                .map(RedlockMaster::index)
                .toList();
    }

    private static MasterHandshakeReply votingOf(RedlockMaster master) {
        return Objects.requireNonNull(master.voting());
    }

    /** It is logged when it is new. */
    @Test
    void theReasonWhyAMasterDoesNotVoteIsNewOnce() {
        RedlockMaster master = new PendingMasters("a", "b", "c").get(0);
        assertThat(master.handshakeFailed(new IllegalStateException("one"))).isTrue();
        assertThat(master.handshakeFailed(new IllegalStateException("one"))).isFalse();
        assertThat(master.handshakeFailed(new IllegalStateException("another"))).isTrue();
    }

    @Test
    void S01_aServerWithTwoAddressesHasOneVote() {
        PendingMasters server = new PendingMasters("same", "same", "other");
        server.reply(1, PendingMasters.votes());
        server.reply(0, PendingMasters.votes());
        server.reply(2, PendingMasters.votes());
        assertThat(voting(server.masters)).containsExactly(1, 2);
        assertThat(server.get(0).whyNotVoting())
                .isEqualTo("redis://master0 and redis://master1 are one server, which would have two votes:"
                        + " name each master once");
        server.clock.advance(QuarantinePolicy.LONGEST_PAUSE);
        server.reply(0, PendingMasters.votes());
        server.quarantine.enterQuarantine(server.get(1), votingOf(server.get(1)));
        server.reply(1, PendingMasters.votes());
        assertThat(voting(server.masters)).as("after further handshakes").containsExactly(1, 2);
    }

    /** Otherwise the later reply could be replaced by the earlier one, whose master may have lost its data since. */
    @Test
    void S01_anotherHandshakeBeginsOnceTheReplyHasBeenProcessed() {
        PendingMasters servers = votingMasters();
        List<Integer> sentMeanwhile = new ArrayList<>();
        AtomicReference<MasterHandshakes> handshakes = new AtomicReference<>();
        handshakes.set(handshakes(servers, (master, reply) -> {
            Objects.requireNonNull(handshakes.get()).start(master.node());
            sentMeanwhile.add(servers.pending(0));
            return Optional.empty();
        }));
        Objects.requireNonNull(handshakes.get()).start(servers.get(0).node());
        servers.reply(0, PendingMasters.votes());
        assertThat(sentMeanwhile).containsExactly(0);
        assertThat(servers.pending(0)).as("now").isOne();
    }

    /** The master has lost its data after the second handshake and before the vote, which was requested before the second one ended. */
    @Test
    void S01_aHandshakeIsRepeatedAfterAVoteThatWasRequestedByAnEarlierOne() {
        PendingMasters servers = votingMasters();
        RedlockMaster master = servers.get(0);
        MasterHandshakeReply first = votingOf(master);
        servers.clock.advance(Duration.ofMillis(1)); // so that the handshakes differ
        servers.quarantine.listener(0, PendingMasters.NO_MESSAGES).onMessage(master.node(), "Q");
        servers.reply(0, PendingMasters.votes());
        servers.quarantine.enterQuarantine(master, first);
        assertThat(master.voting()).isNull();
        assertThat(servers.pending(0)).isOne();
        servers.quarantine.enterQuarantine(master, first);
        servers.reply(0, PendingMasters.inQuarantineFor(Duration.ZERO));
        servers.quarantine.enterQuarantine(master, first);
        assertThat(servers.pending(0)).as("it is repeated once").isZero();
    }

    /** Another master's handshake leads to decisions on all masters, while this one's reply is processed on another thread. */
    @Test
    void S14_aDecisionOnAnEarlierHandshakeDoesNotEraseWhyTheMasterIsRefused() {
        PendingMasters servers = new PendingMasters("a", "b", "c");
        RedlockMaster master = servers.get(0);
        servers.reply(0, PendingMasters.inQuarantineFor(Duration.ZERO));
        MasterHandshakeReply first = master.handshake().orElseThrow();
        servers.quarantine.listener(0, PendingMasters.NO_MESSAGES).onMessage(master.node(), "Q");
        servers.reply(0, PendingMasters.withMaxLease(PendingMasters.MAX_LEASE.plusMillis(1)));
        assertThat(master.whyNotVoting()).contains("maxLease is PT30S in this client, but PT30.001S");
        master.staysInQuarantine(first, PendingMasters.MAX_LEASE);
        assertThat(master.whyNotVoting()).contains("maxLease is PT30S in this client, but PT30.001S");
    }

    /** The first decision counts on the counters of both; one of these masters is silent, which no handshake has shown yet. */
    @Test
    void S03_aMasterWithoutEnoughCountersStaysInQuarantine() {
        PendingMasters servers = new PendingMasters("a", "b", "c");
        servers.reply(1, PendingMasters.votes());
        servers.reply(2, PendingMasters.votes());
        servers.reply(0, PendingMasters.inQuarantineFor(PendingMasters.MAX_LEASE));
        servers.reply(1, PendingMasters.counters());
        servers.fail(2);
        assertThat(servers.get(0).whyNotVoting()).startsWith("in quarantine for 30000 ms");
        servers.clock.advance(MasterQuarantine.LONGEST_PAUSE_WITHOUT_COUNTERS.minusMillis(1));
        assertThat(servers.pending(0)).isZero();
        servers.clock.advance(Duration.ofMillis(1));
        assertThat(servers.pending(0)).isOne();
    }

    /** All clients know when the quarantine ends, and all are told when a master votes. */
    @Test
    void clientsDoNotActAtTheSameMomentWhenAQuarantineEnds() {
        Duration left = Duration.ofSeconds(1);
        Set<Duration> delays = new HashSet<>();
        for (int client = 0; client < 10; client++) {
            PendingMasters servers = new PendingMasters("a", "b", "c");
            servers.reply(1, PendingMasters.votes());
            assertThat(servers.begunToVote()).as("it was in no quarantine").isOne();
            servers.reply(0, PendingMasters.inQuarantineFor(PendingMasters.MAX_LEASE.minus(left)));
            delays.add(servers.clock.untilNextTimer().orElseThrow().minus(left));
            servers.clock.advance(left.plus(QuarantinePolicy.LONGEST_JITTER));
            servers.reply(0, PendingMasters.votes());
            assertThat(servers.begunToVote()).isOne();
            Duration delay = servers.clock.untilNextTimer().orElseThrow();
            delays.add(delay);
            servers.clock.advance(delay);
            assertThat(servers.begunToVote()).isEqualTo(2);
        }
        assertThat(delays)
                .hasSize(20)
                .allSatisfy(delay -> assertThat(delay).isBetween(Duration.ZERO, QuarantinePolicy.LONGEST_JITTER));
    }

    private static PendingMasters votingMasters() {
        PendingMasters servers = new PendingMasters("a", "b", "c");
        for (int master = 0; master < 3; master++) {
            servers.reply(master, PendingMasters.votes());
        }
        return servers;
    }

    private static MasterHandshakes handshakes(PendingMasters servers, MasterHandshakes.Receiver receiver) {
        return new MasterHandshakes(
                0, servers.masters, PendingMasters.KEYS, PendingMasters.MAX_LEASE, servers.context, receiver);
    }
}
