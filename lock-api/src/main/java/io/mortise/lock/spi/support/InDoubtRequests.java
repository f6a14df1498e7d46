// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

/**
 * The requests of one attempt that the store may still execute. Rule S8. An immutable value.
 *
 * <p>A request whose reply is awaited may be executed at any time. One that will have no reply, because its connection was lost
 * or its sender has stopped waiting, remains in doubt until a later reply shows that the store cannot execute it any more: one
 * on the same connection, or one with a time of the store's clock at which the store refuses the request.
 *
 * @param awaited the number of requests whose reply is awaited
 * @param anyLost whether there are requests that will have no reply
 * @param lowestEpoch the first epoch in which one of all these requests was sent. An epoch is a number that grows with each
 *     connection or session
 * @param highestEpoch the last such epoch
 * @param notAfter the latest time of the store's clock at which it executes one of those
 */
public record InDoubtRequests(int awaited, boolean anyLost, long lowestEpoch, long highestEpoch, long notAfter) {
    /** The epoch of a request that was sent again, after later ones: no reply on its connection rules it out. */
    public static final int OUT_OF_ORDER = Integer.MIN_VALUE;

    /** No request. */
    public static final InDoubtRequests NONE =
            new InDoubtRequests(0, false, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE);

    /** Adds a request that is sent in this epoch, whose reply is awaited. */
    public InDoubtRequests sent(long epoch) {
        return with(awaited + 1, anyLost, epoch, notAfter);
    }

    /** Removes an awaited request, which had a reply or was certainly not executed. */
    public InDoubtRequests answered() {
        return new InDoubtRequests(awaited - 1, anyLost, lowestEpoch, highestEpoch, notAfter).orNone();
    }

    /**
     * Adds a request that will have no reply; if it was awaited, {@link #answered} removes it from those.
     *
     * @param epoch the epoch in which it was sent, or an earlier one
     * @param latest the time of the store's clock after which the store refuses the request; the highest number if it has no
     *     such limit
     */
    public InDoubtRequests lost(long epoch, long latest) {
        return with(awaited, true, epoch, Math.max(notAfter, latest));
    }

    private InDoubtRequests with(int newAwaited, boolean newAnyLost, long epoch, long newNotAfter) {
        return new InDoubtRequests(
                newAwaited, newAnyLost, Math.min(lowestEpoch, epoch), Math.max(highestEpoch, epoch), newNotAfter);
    }

    /**
     * Removes the lost requests if the reply to a later request shows that none can be executed any more.
     *
     * @param epoch the epoch of the connection on which the reply came
     * @param time the time of the store's clock in the reply; the lowest number if the reply contains none
     */
    public InDoubtRequests resolvedBy(long epoch, long time) {
        boolean allBefore = lowestEpoch == epoch && highestEpoch == epoch;
        return anyLost && (allBefore || notAfter < time)
                ? new InDoubtRequests(awaited, false, lowestEpoch, highestEpoch, Long.MIN_VALUE).orNone()
                : this;
    }

    private InDoubtRequests orNone() {
        return mayStillExecute() ? this : NONE;
    }

    /** Returns whether the store may still execute a request. */
    public boolean mayStillExecute() {
        return awaited > 0 || anyLost;
    }
}
