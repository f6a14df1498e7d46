// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** The loss of data at masters of a {@link RedlockWorld}, and their quarantine afterwards. */
final class RedlockDataLoss {
    static final long QUARANTINE = 60_000_000;
    private static final String WRONG_MAX_LEASE = "1000";
    private static final List<String> STATE = List.of(RedlockMasterModel.KEYS.state());

    private final RedlockWorld world;

    RedlockDataLoss(RedlockWorld world) {
        this.world = world;
    }

    void loseData(int m) {
        RedlockMasterModel master = world.masters.get(m);
        if (!master.silent) {
            master.server = RedisModel.EMPTY.withSubscribed(master.server.subscribed());
            forget(m);
        }
    }

    /** Clients that have made no attempt so far connect afterwards. */
    void loseAllData() {
        for (int m = 0; m < RedlockScope.MASTERS; m++) {
            loseData(m);
            for (int c = 0; c < world.contenders.size(); c++) {
                world.link(m, c).eligible &= world.contenders.get(c).core != CorePhase.NEW;
            }
        }
    }

    void restart(int m, boolean hasLastVote) {
        RedlockMasterModel master = world.masters.get(m);
        master.run++;
        if (!hasLastVote) {
            Map<String, StoredValue> older = new HashMap<>(master.server.keys());
            older.keySet().retainAll(Set.copyOf(STATE));
            master.server = new RedisModel(older, master.server.subscribed());
        }
        forget(m);
        master.stray = List.of();
        for (int client = 0; client < master.links.size(); client++) {
            master.links.get(client).eligible = false;
            world.traffic.loseConnection(m, client, RedlockWorld.LATER);
            handshake(m, client);
        }
    }

    private void forget(int m) {
        boolean keeps = world.masters.get(m).vote().startsWith(OwnerRecordCodec.KEPT_MARK);
        for (RedlockContenderModel contender : world.contenders) {
            contender.masters.get(m).atRisk |= contender.counts() && world.scope.has(Option.QUARANTINE_ENDS);
            contender.masters.get(m).kept &= keeps;
        }
    }

    // ---- the quarantine

    void handshake(int m, int client) {
        Link link = world.masters.get(m).links.get(client);
        List<?> state = sendHandshake(m, client);
        String stored = String.valueOf(state.get(3));
        link.differs = !stored.equals("0") && !stored.equals(maxLease(client));
        link.since = state.get(0).equals(1L) ? 0 : (Long) state.get(2);
        if (link.since == 0 && !link.differs) {
            link.eligible = true;
            world.wakeWaiters(client);
        }
    }

    /** A client with the wrong {@code maxLease} has never had a majority that could have told it so. */
    List<?> sendHandshake(int m, int client) {
        String known = world.scope.hasWrongMaxLease(client) ? "0" : RedlockMasterModel.MAX_LEASE;
        List<String> args = List.of(world.masters.get(m).runId(), known, RedlockMasterModel.channel("*"));
        return world.run(m, RedlockScript.HANDSHAKE, STATE, args);
    }

    private String maxLease(int client) {
        return world.scope.hasWrongMaxLease(client) ? WRONG_MAX_LEASE : RedlockMasterModel.MAX_LEASE;
    }

    /** Returns whether this client may let the master leave quarantine after some time. */
    boolean mayEndQuarantine(int m, int client) {
        boolean agrees = world.masters.stream().noneMatch(master -> master.links.get(client).differs);
        return world.masters.get(m).links.get(client).since != 0
                && agrees
                && (world.scope.hasWrongMaxLease(client) || isQuarantineOver(m));
    }

    /**
     * Returns whether no lease and no round can be valid any more that this master may have forgotten. Its quarantine lasts at least
     * as long. A lease may have been renewed since by a majority that has its votes.
     */
    private boolean isQuarantineOver(int m) {
        return !world.scope.variant().waitsForLeases()
                || IntStream.range(0, world.contenders.size()).allMatch(c -> {
                    RedlockContenderModel contender = world.contenders.get(c);
                    return !contender.masters.get(m).atRisk
                            || contender.overdue
                            || !contender.counts()
                            || (contender.protocol.phase() instanceof RedlockContenderState.Holding && isRenewable(c));
                });
    }

    private boolean isRenewable(int c) {
        String vote = RedlockTraffic.vote(c, world.contenders.get(c).protocol.round());
        return world.isMajority(master -> master.votes() && master.vote().startsWith(vote));
    }

    /** Counters are those of the voting masters, if these include a member of each majority, or else the clock. */
    void endQuarantine(int m, int client) {
        world.now += QUARANTINE;
        long voting = 0;
        long highest = 0;
        String bucket = RedlockMasterModel.KEYS.bucket();
        for (RedlockMasterModel other : world.masters) {
            if (other.links.get(client).eligible) {
                voting++;
                Object counter = other.server
                        .run(world.now, "HGET", STATE.get(0), bucket)
                        .reply();
                highest = Math.max(highest, counter == null ? 0 : Long.parseLong((String) counter));
            }
        }
        boolean raiseToClock = voting < new Quorum(RedlockScope.MASTERS).recoveryQuorum();
        List<String> args = List.of(
                world.masters.get(m).runId(),
                String.valueOf(world.masters.get(m).links.get(client).since),
                maxLease(client),
                raiseToClock ? "1" : "0",
                "0",
                RedlockMasterModel.channel("*"),
                bucket,
                String.valueOf(highest));
        world.run(m, RedlockScript.LEAVE_QUARANTINE, STATE, args);
        handshake(m, client);
    }
}
