// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.World;
import io.mortise.lock.redis.RedisClientModel.Arrival;
import io.mortise.lock.redis.RedisGrantHistory.Belief;
import io.mortise.lock.redis.RedisGrantHistory.Cause;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks a {@link RedisWorld} by its rules, and names what it shows. */
record RedisWorldCheck(RedisWorld world) {
    /** Returns what is wrong in the world; see {@link World#violation}. */
    Optional<String> violation() {
        if (world.broken.isPresent()) {
            return world.broken;
        }
        if (world.grants.broken().isPresent()) {
            return world.grants.broken();
        }
        if (world.haveAllEnded()
                && world.contenders.stream().allMatch(each -> world.clientOf(each).alive && !each.abandoned)
                && !world.stored()
                        .allMatch(key -> key.equals(RedisGrantHistory.KEYS.grant()) && world.grants.isKept())) {
            return Optional.of("S08: all have ended, and the store has " + world.server.keys());
        }
        int believer = -1;
        for (int i = 0; i < world.contenders.size(); i++) {
            RedisContenderModel contender = world.contenders.get(i);
            if (contender.token != 0) {
                if (believer >= 0) {
                    return Optional.of("S01: contenders " + believer + " and " + i + " hold the lock");
                }
                believer = i;
                if (world.grants.beliefIn(i, contender.token) != Belief.RIGHT) {
                    return Optional.of(
                            "S01: contender " + i + " holds the lock, and the store has " + world.grants.present());
                }
            }
            RedisContenderState.Phase phase = contender.protocol.phase();
            boolean hasNothing = phase instanceof RedisContenderState.Gone
                    || (phase instanceof RedisContenderState.Idle
                            && !contender.protocol.inDoubt().mayStillExecute());
            if (hasNothing
                    && world.clientOf(contender).alive
                    && !contender.abandoned
                    && world.grants.isStored(i, world.server)) {
                return Optional.of("S08: contender " + i + " is " + phase + ", and the store has something of it");
            }
        }
        return Optional.empty();
    }

    List<String> situations() {
        Set<String> present = new HashSet<>();
        for (int i = 0; i < world.contenders.size(); i++) {
            situationsOf(i, present);
        }
        if (world.grants.isKept()) {
            present.add("kept for a delay");
        }
        if (world.wokenAt() > 0) {
            present.add("left free for a woken waiter");
        }
        if (world.grants.present() != null
                && !world.clientOf(world.contenders.get(world.grants.present().contender())).alive) {
            present.add("granted to a dead client");
        }
        if (world.grants.ended().stream().anyMatch(each -> each.cause() == Cause.EXPIRY)) {
            present.add("a grant expires before it is used");
        }
        if (world.now < world.grants.highestToken()) {
            present.add("the clock is behind the tokens");
        }
        if (world.clients.stream().noneMatch(client -> client.connected)) {
            present.add("nobody is connected");
        }
        return List.copyOf(present);
    }

    private void situationsOf(int i, Set<String> present) {
        RedisContenderModel contender = world.contenders.get(i);
        RedisContenderState.Phase phase = contender.protocol.phase();
        present.add(phase.getClass().getSimpleName());
        if (contender.core == CorePhase.DONE) {
            if (contender.gaveUp) {
                present.add("given up");
            }
            if (phase instanceof RedisContenderState.CleaningUp && world.grants.isStored(i, world.server)) {
                present.add("an acquire is executed after the end");
            }
        } else if (contender.core == CorePhase.HOLDING) {
            if (contender.token == 0) {
                present.add("lost");
            } else if (contender.validUntil > RedisLeaseTimes.granted(contender.token)) {
                present.add("renewed");
            }
        } else if (phase instanceof RedisContenderState.Requesting requesting) {
            if (world.clientOf(contender).sent.stream()
                    .anyMatch(request -> request.sentAgain() && request.contender() == i)) {
                present.add("a request is sent with its script");
            }
            if (requesting.triesLeft() < RedisContenderState.MOST_TRIES) {
                present.add("a late acquire is sent again");
            }
            if (contender.messageEpoch != 0 && !contender.woken) {
                present.add("a hand-off is asked for again");
            }
        } else if (phase instanceof RedisContenderState.Queued queued) {
            if (!world.grants.isStored(i, world.server)) {
                present.add("forgotten in the queue");
            } else if (world.grants.isGrantedTo(i) && !world.clientOf(contender).connected) {
                present.add("handed off to a lost connection");
            }
            if (world.clientOf(contender).arriving.stream().anyMatch(arrival -> isOlder(arrival, i, queued))) {
                present.add("a message is older than the queue entry");
            }
        }
    }

    private static boolean isOlder(Arrival arrival, int contender, RedisContenderState.Queued queued) {
        String[] parts = arrival.message().split(" ", -1);
        return parts[0].equals("G")
                && RedisGrantHistory.contender(parts[1]) == contender
                && Long.parseLong(parts[3]) < queued.time().micros();
    }
}
