// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A process, with the requests, replies and messages on its connection, in order. */
final class RedisClientModel implements Cloneable {
    boolean alive = true;
    boolean connected = true;
    int epoch = 1;
    /** Whether a reply of this connection's server has told its time. */
    boolean knowsTime = true;

    List<Request> sent = List.of();
    List<Arrival> arriving = List.of();

    /** Returns all requests without a reply that was received, in the order of their timeouts. */
    Stream<Request> unanswered() {
        return Stream.concat(arriving.stream().map(Arrival::request).filter(Objects::nonNull), sent.stream())
                .sorted(Comparator.comparing(request -> !request.sentAgain));
    }

    RedisClientModel copy() {
        try {
            return (RedisClientModel) clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The scripts of a contender. */
    enum Script {
        ACQUIRE,
        REMOVAL,
        DELAYED_RELEASE,
        RENEWAL,
        SWEEP
    }

    /**
     * A request that the server has not executed.
     *
     * @param token the token of the grant that a delayed release is about
     * @param sent when it was sent
     * @param notAfter the server's time after which it refuses an acquire
     * @param awaited whether its sender still waits for the reply
     * @param sentAgain whether it was sent with the text of its script, which the server did not know
     */
    record Request(
            int client,
            int contender,
            Script script,
            boolean withTime,
            long token,
            int epoch,
            long sent,
            long notAfter,
            boolean awaited,
            boolean sentAgain) {
        Request unawaited() {
            return new Request(client, contender, script, withTime, token, epoch, sent, notAfter, false, sentAgain);
        }

        Request again() {
            return new Request(client, contender, script, withTime, token, epoch, sent, notAfter, awaited, true);
        }

        boolean isOnConnectionOf(Request other) {
            return client == other.client && epoch == other.epoch;
        }

        @Override
        public String toString() {
            return script + " of contender " + contender;
        }
    }

    /** A reply, or a message if it has no request. An error reply has no values. */
    record Arrival(@Nullable Request request, List<?> values, String message) {
        boolean isGrant() {
            return request != null
                    && request.script == Script.ACQUIRE
                    && ((values.size() == 1 && values.get(0) instanceof Long)
                            || (values.size() > 1 && values.get(0).equals("granted")));
        }

        @Override
        public String toString() {
            return request == null ? "the message \"" + message + "\"" : "the reply " + values + " to " + request;
        }
    }
}
