// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redis.RedisClientModel.Arrival;
import io.mortise.lock.redis.RedisClientModel.Request;
import java.util.Collections;
import java.util.List;

/** Describes what distinguishes a {@link RedisWorld} from others, for its key. */
record RedisWorldKey(RedisWorld world) {
    /** Adds the whole world. */
    void describe(StateKey key) {
        describeServer(key);
        for (int i = 0; i < world.clients.size(); i++) {
            RedisClientModel client = world.clients.get(i);
            key.value("\nclient").flags(client.alive, client.connected, client.knowsTime);
            key.number(client.epoch);
            key.value(" sent").list(client.sent, this::describe);
            key.value(" arriving").list(client.arriving, this::describe);
        }
        key.value("\nlate").list(world.stray, this::describe);
        key.value(" ended")
                .list(
                        world.grants.ended(),
                        (into, ended) -> into.participant(ended.contender())
                                .value(ended.cause())
                                .number(ended.token()));
        key.number(world.faults.left()).number(world.furtherAcquires).number(world.grants.highestToken());
        if (world.timed) {
            key.number(world.renewals).number(world.halfLeases);
        }
        key.participants(
                world.contenders.size(), (view, i) -> describe(world.contenders.get(i), view), (details, i) -> {});
    }

    /** Describes all that the scripts may still read. No queue entry expires by itself, so its time is left out. */
    private void describeServer(StateKey key) {
        for (String each : List.of(RedisGrantHistory.KEYS.grant(), RedisGrantHistory.KEYS.counter())) {
            key.value(world.server.keys().get(each) instanceof StoredValue.Text value ? value.text() : null);
        }
        if (world.server.keys().get(RedisGrantHistory.KEYS.queue()) instanceof StoredValue.SortedSet queue) {
            key.list(RedisGrantHistory.queueIn(world.server).toList(), StateKey::participant);
            key.number((long) Collections.max(queue.scores().values()).doubleValue());
        }
        key.number(world.wokenAt()).number(world.now);
        if (world.timed && world.server.keys().get(RedisGrantHistory.KEYS.grant()) instanceof StoredValue.Text grant) {
            key.number(grant.expiresAt().orElseThrow() * 1_000);
        }
        for (int i = 0; i < world.clients.size(); i++) {
            key.flags(world.server.subscribed().contains(RedisWorld.channel(i)));
        }
    }

    /** Describes what makes a contender differ from the others, except its attempt id. */
    private void describe(RedisContenderModel contender, StateKey key) {
        key.value("\ncontender").number(contender.client).flags(contender.waits).value(contender.protocol);
        key.value(contender.core).value(contender.cleanup);
        key.flags(
                contender.woken,
                contender.gaveUp,
                contender.delayed,
                contender.registered,
                contender.abandoned,
                contender.expiring);
        key.number(contender.granted).number(contender.confirming).value(contender.found);
        key.number(contender.messageEpoch).number(contender.token);
        if (world.timed) {
            key.number(contender.validUntil);
        }
        boolean mayBeRepeated = world.faults.left() > 0 && !contender.lastMessage.isEmpty();
        key.value(mayBeRepeated ? contender.lastMessage.substring(2 + 32) : null);
    }

    private void describe(StateKey key, Arrival arrival) {
        key.value(arrival.message()).value(arrival.values()).flags(arrival.request() != null);
        if (arrival.request() != null) {
            describe(key, arrival.request());
        }
    }

    private void describe(StateKey key, Request request) {
        key.number(request.client()).participant(request.contender()).value(request.script());
        key.flags(request.withTime(), request.awaited(), request.sentAgain())
                .number(request.token())
                .number(request.epoch());
        key.number(request.notAfter());
        if (world.timed) {
            key.number(request.sent());
        }
    }
}
