// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.storage.RedlockScript;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The scope of an exploration of Redlock: three masters, contenders, with a client each or with one, and what may happen to them.
 *
 * @param waits whether each contender waits
 * @param rounds the number of rounds after which a contender gives up
 * @param silent the number of masters that do not vote from the start
 * @param foreign the number of masters at which somebody else has the lock at the start
 * @param faults the number of faults
 */
record RedlockScope(
        List<Boolean> waits,
        int rounds,
        int silent,
        int foreign,
        Set<Option> options,
        int faults,
        Set<Fault> possible,
        Variant variant) {
    static final int MASTERS = 3;
    static final int MAJORITY = 2;

    /** No limit of rounds. */
    static final int ANY = Integer.MAX_VALUE;

    /** Something that may happen any number of times. */
    enum Option {
        /** A contender gives up while it waits, or during an attempt. */
        GIVES_UP,
        /** A holder releases with a delay, or without one. */
        DELAYED_RELEASE,
        /** A hint is late. */
        LATE_HINTS,
        /** A quarantine ends, after all leases and delays that the master may have forgotten. */
        QUARANTINE_ENDS,
        /** All contenders have one client, and so the same connections; its local queue lets one of them acquire at a time. */
        ONE_CLIENT,
        /** A holder renews its grant a few times, and requests lost votes again; deadlines and expiry follow the clock. */
        RENEWAL,
        /** The client of the last contender has a shorter {@code maxLease} than it must have, and connects late. */
        WRONG_MAX_LEASE
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A request has no reply in time; it is executed in its order. */
        SLOW_REPLY,
        /** A connection is lost; the master executes its requests later, in any order, or never. */
        LATE_EXECUTION,
        /** All connections of a client are lost at once. */
        CUT,
        /** A master does not know a script, so the request is sent again, after those that were sent meanwhile. */
        UNKNOWN_SCRIPT,
        /** The data of a master are deleted while it runs. */
        DATA_LOSS,
        /** The data of all masters are deleted at once while they run. */
        FLUSHALL,
        /** A master is restarted with its data, all or without the last vote. Requests without a reply are not executed. */
        RESTART,
        /** A vote expires at a master, but not while its round counts on it. */
        EXPIRY,
        /** The deadline of a round or of a grant passes; then its votes may expire. */
        DEADLINE,
        /** An operator releases the lock of a holder. */
        FORCED_RELEASE,
        /** A hint is lost. */
        LOST_HINT
    }

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param script returns the text of a script
     * @param waitsForLeases whether a quarantine lasts as long as leases that the master may have forgotten
     * @param knowsOrphans whether a client knows the votes that its own ended attempts have left
     * @param renewal returns until when a grant is valid after a renewal
     */
    record Variant(
            BiFunction<RedlockContenderState, RedlockContenderEvent, RedlockContenderState.Step> machine,
            Function<RedlockScript, String> script,
            boolean waitsForLeases,
            boolean knowsOrphans,
            RedlockRenewalModel.Extension renewal) {
        static final Variant PRODUCTION = new Variant(
                RedlockContenderState::on, each -> each.script().text(), true, true, RedlockRenewalModel::extended);

        Variant machine(BiFunction<RedlockContenderState, RedlockContenderEvent, RedlockContenderState.Step> other) {
            return new Variant(other, script, waitsForLeases, knowsOrphans, renewal);
        }

        Variant script(Function<RedlockScript, String> other) {
            return new Variant(machine, other, waitsForLeases, knowsOrphans, renewal);
        }
    }

    /**
     * Returns a scope without faults.
     *
     * @param contenders a letter for each contender: w if it waits, t if it only tries
     * @param rounds the number of rounds after which a contender gives up
     */
    static RedlockScope of(String contenders, int rounds) {
        List<Boolean> waits = contenders.chars().mapToObj(each -> each == 'w').toList();
        return new RedlockScope(waits, rounds, 0, 0, Set.of(), 0, Set.of(), Variant.PRODUCTION);
    }

    RedlockScope with(Option first, Option... more) {
        return new RedlockScope(waits, rounds, silent, foreign, EnumSet.of(first, more), faults, possible, variant);
    }

    RedlockScope silent(int number) {
        return new RedlockScope(waits, rounds, number, foreign, options, faults, possible, variant);
    }

    RedlockScope foreign(int number) {
        return new RedlockScope(waits, rounds, silent, number, options, faults, possible, variant);
    }

    RedlockScope faults(int number, Fault first, Fault... more) {
        return new RedlockScope(waits, rounds, silent, foreign, options, number, EnumSet.of(first, more), variant);
    }

    RedlockScope withoutFaults() {
        return new RedlockScope(waits, rounds, silent, foreign, options, 0, Set.of(), variant);
    }

    RedlockScope with(Variant other) {
        return new RedlockScope(waits, rounds, silent, foreign, options, faults, possible, other);
    }

    int clients() {
        return has(Option.ONE_CLIENT) ? 1 : waits.size();
    }

    int clientOf(int contender) {
        return has(Option.ONE_CLIENT) ? 0 : contender;
    }

    boolean has(Option option) {
        return options.contains(option);
    }

    /** Returns whether this client has the wrong {@code maxLease}. */
    boolean hasWrongMaxLease(int client) {
        return has(Option.WRONG_MAX_LEASE) && client == clients() - 1;
    }
}
