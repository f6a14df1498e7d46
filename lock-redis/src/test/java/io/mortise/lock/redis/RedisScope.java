// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The scope of an exploration.
 *
 * @param contenders a character for each contender: the number of its client, or {@code a} for client 0 and so on if it
 *     does not wait
 * @param furtherAcquires how often a client whose contender has ended acquires again, all together
 * @param faults the number of faults
 * @param possible the kinds of faults
 */
record RedisScope(
        String contenders, int furtherAcquires, Set<Option> options, int faults, Set<Fault> possible, Variant variant) {
    @Override
    public String toString() {
        return contenders + "+".repeat(furtherAcquires) + " " + options + " " + faults + " of " + possible;
    }

    static RedisScope of(String contenders) {
        return new RedisScope(contenders, 0, Set.of(), 0, Set.of(), Variant.PRODUCTION);
    }

    RedisScope andAcquires(int more) {
        return new RedisScope(contenders, more, options, faults, possible, variant);
    }

    RedisScope with(Option... more) {
        return new RedisScope(contenders, furtherAcquires, Set.of(more), faults, possible, variant);
    }

    RedisScope faults(int most, Fault... kinds) {
        return faults(most, kinds.length == 0 ? Set.of() : EnumSet.copyOf(List.of(kinds)));
    }

    RedisScope faults(int most, Set<Fault> kinds) {
        return new RedisScope(contenders, furtherAcquires, options, most, kinds, variant);
    }

    RedisScope with(Variant other) {
        return new RedisScope(contenders, furtherAcquires, options, faults, possible, other);
    }

    /** Returns the number of clients. */
    int clients() {
        return 1
                + contenders
                        .chars()
                        .map(each -> each % 16 - (each >= 'a' ? 1 : 0))
                        .max()
                        .orElse(0);
    }

    /** An event that may happen besides faults. */
    enum Option {
        /** A holder may also release with a delay. */
        DELAYED_RELEASE,
        /** Replicas or sentinels must confirm each grant that is in a reply. */
        CONFIRMATION,
        /** The lock is held for longer than it is handed off in a row. */
        LONG_HOLDING,
        /** A holder may renew once, and leases end by the clock. */
        RENEWAL,
        /** With {@link #RENEWAL}: it may renew once more. */
        SECOND_RENEWAL,
        /** A script removes one dead queue entry at most, and is run again if there are more. */
        MANY_DEAD
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A connection is lost, with the replies and messages on it. */
        CUT,
        /** With a lost connection: the server executes a request later, also long after its sender has given up. */
        LATE_EXECUTION,
        /** A connection is lost, and the server does not notice: the client seems to be subscribed. */
        HALF_OPEN,
        /** A reply does not come in time. */
        SLOW_REPLY,
        /** The server replies with an error. */
        ERROR_REPLY,
        /** The server does not know the script of a request, which is sent again, behind what was sent meanwhile. */
        UNKNOWN_SCRIPT,
        /** Replicas or sentinels do not confirm a grant. */
        NOT_CONFIRMED,
        /** The token of a grant is out of range. */
        UNUSABLE_TOKEN,
        /** Too little of a lease is left when a hand-off is about to be used. */
        SHORT_VALIDITY,
        /** Somebody publishes the last hand-off message to a contender again. */
        REPLAY,
        /** An operator ends a grant. */
        FORCED_RELEASE,
        /** The server restarts with its data. */
        RESTART,
        /** The server restarts without its data. */
        DATA_LOSS,
        /** The server's clock is set back. */
        CLOCK_SET_BACK,
        /** The server's clock is set forward. */
        CLOCK_SET_FORWARD,
        /** A holder cannot renew, or a reply takes longer than a lease. */
        EXPIRY,
        /** The core gives up a removal that has failed for a whole lease. */
        ABANDONED,
        /** A process dies. */
        DEATH
    }

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param script returns the text of a script
     * @param flaws what the code around both does wrong
     * @param renewal returns until when a grant is valid after a renewal
     */
    record Variant(
            BiFunction<RedisContenderState, RedisContenderEvent, RedisContenderState.Step> machine,
            Function<RedisLockScript, String> script,
            Set<Flaw> flaws,
            Renewal renewal) {
        static final Variant PRODUCTION = new Variant(
                RedisContenderState::on, script -> script.script().text(), Set.of(), RedisLeaseTimes::renewed);
    }

    /** A defect of the code that performs what the state machine decides. */
    enum Flaw {
        /** A new connection does not wake the contenders, which may have missed messages. */
        NO_WAKE_UP_ON_CONNECT,
        /** Whatever connection there is confirms a grant. */
        CONFIRM_OVER_ANY_CONNECTION,
        /** The script that goes on with the dead entries of the queue names the attempt that was removed. */
        SWEEP_NAMES_ATTEMPT
    }

    /** See {@link RedisLeaseTimes#renewed}. */
    interface Renewal {
        long validUntil(long before, long sent, long now);
    }
}
