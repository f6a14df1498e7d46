// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redlock.master.SimulatedMaster.Round;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.redlock.vote.YesNoTally;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Simulates the Redlock algorithm with random message orders and faults. The classes of the library make the decisions.
 *
 * <p>Messages arrive late and in any order, keys disappear early, masters restart empty or with old data, votes are recovered,
 * and clients give up or crash.
 */
final class TokenSimulation {
    /** Rules that can be switched off, to show that each is needed. */
    record Rules(
            boolean tokenRound,
            boolean raisesOnlyOwnVotes,
            boolean quarantine,
            boolean restoresCounters,
            boolean yieldsOnlyItsRound) {
        static final Rules ALL = new Rules(true, true, true, true, true);
    }

    /** Faults to simulate; data is lost in restarts, and by deletion at one master or at all masters. */
    record Faults(boolean keysVanish, boolean losses) {}

    private static final int CLIENTS = 3;
    private static final int STEPS = 1_000;
    private static final int MOST_ROUNDS = 3;
    private static final long MAX_LEASE = 150; // in steps

    /** Clock ticks per step, so that a master's clock is far ahead of any count of grants, as microseconds are. */
    private static final long CLOCK = 1_000;

    private final Rules rules;
    private final Faults faults;
    private final Random random;
    private final Quorum quorum;
    private final List<SimulatedMaster> masters = new ArrayList<>();
    private final List<Runnable> inFlight = new ArrayList<>();
    private final List<Grant> grants = new ArrayList<>();
    private final SimulatedClient[] clients = new SimulatedClient[CLIENTS];
    private long now = 1;
    private int attempts;

    /** One grant of the lock, with its times in steps. */
    record Grant(String owner, long requestedAt, long grantedAt, long validUntil, long token) {}

    /** Simulates a client that acquires the lock repeatedly. */
    private final class SimulatedClient {
        private Optional<SimulatedAttempt> attempt = Optional.empty();
        private boolean holds;

        void act() {
            if (attempt.isEmpty()) {
                attempt = Optional.of(new SimulatedAttempt(this));
            } else if (holds && random.nextInt(3) == 0) {
                attempt.get().recoverVote(anyNode());
            } else if (holds || random.nextInt(10) == 0) { // releases the lock, or gives up
                attempt.get().end();
                attempt = Optional.empty();
                holds = false;
            }
        }
    }

    /** Simulates one acquire attempt, from its requests in one or more rounds to its release. */
    private final class SimulatedAttempt {
        private final SimulatedClient client;
        private final String owner = "attempt-" + attempts++;
        private final long lease = random.nextInt(4) == 0 ? MAX_LEASE : MAX_LEASE / 3;
        private long requestedAt; // in this round, as the next three
        private Round round = new Round(owner, 0);
        private VoteTally tally = new VoteTally(quorum);
        private final List<Integer> voters = new ArrayList<>();
        private boolean ended;
        private int granted = -1;

        SimulatedAttempt(SimulatedClient client) {
            this.client = client;
            startRound();
        }

        private void startRound() {
            requestedAt = now;
            round = new Round(owner, round.number() + 1);
            tally = new VoteTally(quorum);
            voters.clear();
            Round sent = round;
            for (int node = 0; node < quorum.masters(); node++) {
                int to = node;
                send(to, () -> {
                    long reply = masters.get(to).acquire(sent, now, lease, rules.quarantine());
                    return () -> onVote(sent, to, reply);
                });
            }
        }

        private void onVote(Round of, int node, long reply) {
            if (!of.equals(round)) {
                if (reply >= 0) {
                    yieldVote(of, node);
                }
                return;
            }
            MasterVote vote = reply >= 0
                    ? new MasterVote.Granted(reply)
                    : reply == -1
                            ? new MasterVote.Conflicted("", 0, 0)
                            : new MasterVote.Failed(new Exception("quarantine"), false);
            if (reply >= 0) {
                voters.add(node);
            }
            boolean open = tally.result() == VoteTally.Result.OPEN;
            tally = tally.with(node, vote);
            switch (open ? tally.result() : VoteTally.Result.OPEN) {
                case WON -> won();
                case BUSY, NO_QUORUM -> lost();
                case OPEN -> {}
            }
        }

        /** Makes another round, whose requests may overtake those that delete the votes of this one, or gives up. */
        private void lost() {
            if (ended || round.number() == MOST_ROUNDS || random.nextInt(3) == 0) {
                fail();
                return;
            }
            for (int node : voters) {
                yieldVote(round, node);
            }
            startRound();
        }

        private void yieldVote(Round of, int node) {
            send(node, () -> {
                masters.get(node).yieldVote(of, rules.yieldsOnlyItsRound());
                return () -> {};
            });
        }

        private void won() {
            long token = tally.highestCounter();
            if (tally.isTokenUnanimous() || !rules.tokenRound()) {
                grant(token);
                return;
            }
            YesNoTally stored = new YesNoTally(quorum);
            Round won = round;
            for (int node = 0; node < quorum.masters(); node++) {
                int to = node;
                if (!voters.contains(node)) {
                    stored.add(YesNoTally.Answer.NONE);
                    continue;
                }
                send(to, () -> {
                    boolean raised =
                            masters.get(to).raise(won, token, now, rules.raisesOnlyOwnVotes(), rules.quarantine());
                    return () -> {
                        switch (stored.add(raised ? YesNoTally.Answer.YES : YesNoTally.Answer.NO)) {
                            case ACCEPTED -> grant(token);
                            case REJECTED, UNDECIDED -> fail();
                            case OPEN -> {}
                        }
                    };
                });
            }
        }

        private void grant(long token) {
            if (ended || now >= requestedAt + lease) {
                fail();
                return;
            }
            granted = grants.size();
            grants.add(new Grant(owner, requestedAt, now, requestedAt + lease, token));
            client.holds = true;
        }

        /** Requests a vote again. The request may be executed long after the release, and is not cleaned up then. */
        private void recoverVote(int node) {
            long token = grants.get(granted).token;
            send(node, () -> {
                masters.get(node).recoverVote(round, token, now, lease, rules.quarantine());
                return () -> {};
            });
        }

        private void fail() {
            if (!ended) {
                end();
                client.attempt = Optional.empty();
            }
        }

        void end() {
            ended = true;
            if (granted >= 0) {
                Grant grant = grants.get(granted);
                grants.set(
                        granted,
                        new Grant(
                                grant.owner,
                                grant.requestedAt,
                                grant.grantedAt,
                                Math.min(grant.validUntil, now),
                                grant.token));
            }
            if (random.nextInt(8) == 0) {
                return; // the client crashed: its keys expire
            }
            for (int node = 0; node < quorum.masters(); node++) {
                int to = node;
                send(to, () -> {
                    masters.get(to).release(round);
                    return () -> {};
                });
            }
        }
    }

    /** A request that one master executes. */
    private interface Request {
        /** Executes the request at the master, and returns the action for the arrival of its reply. */
        Runnable execute();
    }

    TokenSimulation(long seed, int nodes, Rules rules, Faults faults) {
        this.random = new Random(seed);
        this.rules = rules;
        this.faults = faults;
        this.quorum = new Quorum(nodes);
        for (int node = 0; node < nodes; node++) {
            SimulatedMaster master = new SimulatedMaster();
            master.leaveQuarantine(random.nextInt(3)); // masters start with different counters
            masters.add(master);
        }
        for (int client = 0; client < CLIENTS; client++) {
            clients[client] = new SimulatedClient();
        }
    }

    /** Sends a request. The request or its reply is lost if the master restarts first. */
    private void send(int node, Request request) {
        int run = masters.get(node).run();
        inFlight.add(() -> {
            if (masters.get(node).run() == run) {
                inFlight.add(request.execute());
            }
        });
    }

    /** Runs the simulation, and returns the grants in the order in which they were granted. */
    List<Grant> run() {
        for (int step = 0; step < STEPS; step++, now++) {
            int event = random.nextInt(200);
            if (event < 160 && !inFlight.isEmpty()) {
                inFlight.remove(random.nextInt(inFlight.size())).run();
            } else if (event < 184) {
                clients[random.nextInt(CLIENTS)].act();
            } else if (event < 190) {
                tryToLeaveQuarantine(anyNode());
            } else if (event < 195 && faults.keysVanish()) {
                masters.get(anyNode()).lose();
            } else if (event < 196 && faults.losses()) {
                lose();
            } else {
                masters.get(anyNode()).save();
            }
        }
        return grants;
    }

    private void lose() {
        int event = random.nextInt(20);
        if (event < 14) {
            masters.get(anyNode()).restart(random.nextBoolean());
        } else if (event < 19) {
            masters.get(anyNode()).flush();
        } else {
            masters.forEach(SimulatedMaster::flush);
        }
    }

    private int anyNode() {
        return random.nextInt(quorum.masters());
    }

    private void tryToLeaveQuarantine(int node) {
        SimulatedMaster master = masters.get(node);
        List<QuarantinePolicy.PeerState> others = IntStream.range(0, quorum.masters())
                .filter(other -> other != node)
                .mapToObj(other -> random.nextInt(5) == 0
                        ? QuarantinePolicy.PeerState.UNREACHABLE
                        : masters.get(other).peerState())
                .toList();
        QuarantinePolicy policy = new QuarantinePolicy(quorum, SimulatedMaster.steps(MAX_LEASE), false);
        if (policy.decide(master.state(now), others) instanceof QuarantinePolicy.Decision.Leave leave) {
            long known = IntStream.range(0, quorum.masters())
                    .filter(other -> other != node)
                    .filter(other -> others.get(other < node ? other : other - 1) == QuarantinePolicy.PeerState.VOTING)
                    .mapToLong(other -> masters.get(other).counter())
                    .max()
                    .orElse(0);
            long counter = rules.restoresCounters() ? known : 0;
            master.leaveQuarantine(
                    leave.raiseToClock() && rules.restoresCounters() ? Math.max(counter, now * CLOCK) : counter);
        }
    }
}
