// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The algorithm in random interleavings: messages that arrive late and in any order, keys that vanish before their time,
 * masters that restart empty or with old data, votes that are taken again, clients that give
 * up or fall silent. The decisions are those of the library.
 */
final class TokenSimulation {
    /** What to leave out, to see that it is needed. */
    record Rules(boolean secondPhase, boolean raisesOnlyItsOwn, boolean quarantine, boolean catchesUp) {
        static final Rules ALL = new Rules(true, true, true, true);
    }

    /** What may go wrong; data is lost by restarts, and by deletion at one master or at all. */
    record Faults(boolean keysVanish, boolean losses) {}

    private static final int CLIENTS = 3;
    private static final int STEPS = 1_000;
    private static final long MAX_LEASE = 150; // in steps

    /** A master's clock is far ahead of any count of grants, as microseconds are. */
    private static final long CLOCK = 1_000;

    private final Rules rules;
    private final Faults faults;
    private final Random random;
    private final Quorum quorum;
    private final List<SimulatedMaster> masters = new ArrayList<>();
    private final List<Runnable> underWay = new ArrayList<>();
    private final List<Grant> grants = new ArrayList<>();
    private final SimulatedClient[] clients = new SimulatedClient[CLIENTS];
    private long now = 1;
    private int attempts;

    /** Asked for, given, and held until, in steps. */
    record Grant(String owner, long asked, long given, long until, long token) {}

    /** One that asks for the lock over and over. */
    private final class SimulatedClient {
        private Optional<AttemptResult> attempt = Optional.empty();
        private boolean holds;

        void act() {
            if (attempt.isEmpty()) {
                attempt = Optional.of(new AttemptResult(this));
            } else if (holds && random.nextInt(3) == 0) {
                attempt.get().regain(anyNode());
            } else if (holds || random.nextInt(10) == 0) { // a release, or it gives up
                attempt.get().end();
                attempt = Optional.empty();
                holds = false;
            }
        }
    }

    private final class AttemptResult {
        private final SimulatedClient client;
        private final String owner = "attempt-" + attempts++;
        private final long asked = now;
        private final long lease = random.nextInt(4) == 0 ? MAX_LEASE : MAX_LEASE / 3;
        private final Ballot ballot = new Ballot(quorum);
        private final List<Integer> voters = new ArrayList<>();
        private boolean over;
        private int granted = -1;

        AttemptResult(SimulatedClient client) {
            this.client = client;
            for (int node = 0; node < quorum.nodes(); node++) {
                int to = node;
                send(to, () -> {
                    long answer = masters.get(to).acquire(owner, now, lease, rules.quarantine());
                    return () -> voted(to, answer);
                });
            }
        }

        private void voted(int node, long answer) {
            Vote vote = answer >= 0
                    ? new Vote.Granted(answer)
                    : answer == -1 ? new Vote.Conflicted("", 0, 0) : new Vote.Failed(new Exception("quarantine"));
            if (answer >= 0) {
                voters.add(node);
            }
            switch (ballot.cast(node, vote)) {
                case WON -> won();
                case BUSY, NO_QUORUM -> fail();
                case OPEN -> {}
            }
        }

        private void won() {
            long token = ballot.token();
            if (ballot.isUnanimous() || !rules.secondPhase()) {
                grant(token);
                return;
            }
            Poll poll = new Poll(quorum);
            for (int node = 0; node < quorum.nodes(); node++) {
                int to = node;
                if (!voters.contains(node)) {
                    poll.answer(Poll.Answer.NONE);
                    continue;
                }
                send(to, () -> {
                    boolean raised =
                            masters.get(to).raise(owner, token, now, rules.raisesOnlyItsOwn(), rules.quarantine());
                    return () -> {
                        switch (poll.answer(raised ? Poll.Answer.YES : Poll.Answer.NO)) {
                            case CARRIED -> grant(token);
                            case REFUSED, UNDECIDED -> fail();
                            case OPEN -> {}
                        }
                    };
                });
            }
        }

        private void grant(long token) {
            if (over || now >= asked + lease) {
                fail();
                return;
            }
            granted = grants.size();
            grants.add(new Grant(owner, asked, now, asked + lease, token));
            client.holds = true;
        }

        /** It may be executed long after the end, and is not taken back then. */
        private void regain(int node) {
            long token = grants.get(granted).token;
            send(node, () -> {
                masters.get(node).regain(owner, token, now, lease, rules.quarantine());
                return () -> {};
            });
        }

        private void fail() {
            if (!over) {
                end();
                client.attempt = Optional.empty();
            }
        }

        void end() {
            over = true;
            if (granted >= 0) {
                Grant was = grants.get(granted);
                grants.set(granted, new Grant(was.owner, was.asked, was.given, Math.min(was.until, now), was.token));
            }
            if (random.nextInt(8) == 0) {
                return; // it died: its keys expire
            }
            for (int node = 0; node < quorum.nodes(); node++) {
                int to = node;
                send(to, () -> {
                    masters.get(to).release(owner);
                    return () -> {};
                });
            }
        }
    }

    private interface Request {
        /** What the answer does where it arrives. */
        Runnable execute();
    }

    TokenSimulation(long seed, int nodes, Rules rules, Faults faults) {
        this.random = new Random(seed);
        this.rules = rules;
        this.faults = faults;
        this.quorum = new Quorum(nodes);
        for (int node = 0; node < nodes; node++) {
            SimulatedMaster master = new SimulatedMaster();
            master.admit(random.nextInt(3)); // as clocks were when each was first seen
            masters.add(master);
        }
        for (int client = 0; client < CLIENTS; client++) {
            clients[client] = new SimulatedClient();
        }
    }

    /** Lost with the connection if the master restarts first, as the request or as its answer. */
    private void send(int node, Request request) {
        int run = masters.get(node).run();
        underWay.add(() -> {
            if (masters.get(node).run() == run) {
                underWay.add(request.execute());
            }
        });
    }

    /** The grants, in the order in which they were given. */
    List<Grant> run() {
        for (int step = 0; step < STEPS; step++, now++) {
            int what = random.nextInt(200);
            if (what < 160 && !underWay.isEmpty()) {
                underWay.remove(random.nextInt(underWay.size())).run();
            } else if (what < 184) {
                clients[random.nextInt(CLIENTS)].act();
            } else if (what < 190) {
                tryToAdmit(anyNode());
            } else if (what < 195 && faults.keysVanish()) {
                masters.get(anyNode()).lose();
            } else if (what < 196 && faults.losses()) {
                lose();
            } else {
                masters.get(anyNode()).save();
            }
        }
        return grants;
    }

    private void lose() {
        int what = random.nextInt(20);
        if (what < 14) {
            masters.get(anyNode()).restart(random.nextBoolean());
        } else if (what < 19) {
            masters.get(anyNode()).flush();
        } else {
            masters.forEach(SimulatedMaster::flush);
        }
    }

    private int anyNode() {
        return random.nextInt(quorum.nodes());
    }

    private void tryToAdmit(int node) {
        SimulatedMaster master = masters.get(node);
        List<Admission.Other> others = IntStream.range(0, quorum.nodes())
                .filter(other -> other != node)
                .mapToObj(other -> random.nextInt(5) == 0
                        ? Admission.Other.SILENT
                        : masters.get(other).asOther())
                .toList();
        Admission admission = new Admission(quorum, MAX_LEASE, false);
        if (admission.of(master.standing(now), others) instanceof Admission.Verdict.Admit admit) {
            long known = IntStream.range(0, quorum.nodes())
                    .filter(other -> other != node)
                    .filter(other -> others.get(other < node ? other : other - 1) == Admission.Other.ADMITTED)
                    .mapToLong(other -> masters.get(other).counter())
                    .max()
                    .orElse(0);
            long counter = rules.catchesUp() ? known : 0;
            master.admit(admit.byClock() && rules.catchesUp() ? Math.max(counter, now * CLOCK) : counter);
        }
    }
}
