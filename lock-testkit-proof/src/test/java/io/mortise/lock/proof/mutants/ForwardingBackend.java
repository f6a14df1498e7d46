// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Passes everything on. A mutant overrides the one step that it gets wrong. */
class ForwardingBackend implements LockBackend {
    final LockBackend honest;
    final Connection connection;

    ForwardingBackend(LockBackend honest, Connection connection) {
        this.honest = honest;
        this.connection = connection;
    }

    /** What the store is asked for. */
    LockRequest asked(LockRequest request) {
        return request;
    }

    /** What the core hears of hints and losses. */
    Waiter heard(LockRequest request, Waiter core) {
        return core;
    }

    /** One attempt. */
    CompletionStage<Attempt> attempt(LockRequest request, Ticket ticket) {
        return ticket.attempt().thenApply(answer -> answered(request, answer));
    }

    /** What the core is told of an answer. */
    Attempt answered(LockRequest request, Attempt answer) {
        return answer instanceof Attempt.Granted granted ? granted(request, granted) : answer;
    }

    /** What the core is told of a grant. */
    Attempt granted(LockRequest request, Attempt.Granted granted) {
        return new Attempt.Granted(granted.token(), liveness(request, granted.liveness()));
    }

    final Liveness liveness(LockRequest request, Liveness made) {
        return ForwardingLiveness.of(
                connection.context().clock(),
                made,
                request.leaseDuration().dividedBy(3),
                until -> validUntil(request, until),
                this);
    }

    /** Until when the core believes. */
    long validUntil(LockRequest request, long until) {
        return until;
    }

    /** Withdrawal or release. */
    CompletionStage<Boolean> end(LockRequest request, Ticket ticket) {
        return ticket.end();
    }

    /** A renewal had no answer. */
    void renewalUnknown(Liveness liveness, Throwable cause) {
        liveness.unknown(cause);
    }

    /** A renewal found no grant. */
    void renewalLost(Liveness liveness, LossReason reason) {
        liveness.lost(reason);
    }

    @Override
    public final Ticket enqueue(LockRequest request, Waiter waiter) {
        Ticket ticket = honest.enqueue(asked(request), heard(request, waiter));
        return new Ticket() {
            @Override
            public CompletionStage<Attempt> attempt() {
                return ForwardingBackend.this.attempt(request, ticket);
            }

            @Override
            public CompletionStage<Boolean> end() {
                return ForwardingBackend.this.end(request, ticket);
            }

            @Override
            public void abandon() {
                ticket.abandon();
            }
        };
    }

    /** A grant that was forged is not the store's to renew. */
    @Override
    public void renew(List<Liveness> due) {
        List<Liveness> known = due.stream()
                .filter(ForwardingLiveness.class::isInstance)
                .map(liveness -> ((ForwardingLiveness) liveness).honest)
                .toList();
        if (!known.isEmpty()) {
            honest.renew(known);
        }
    }

    @Override
    public String endpoints() {
        return honest.endpoints();
    }

    @Override
    public Set<Capability> capabilities() {
        return honest.capabilities();
    }

    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        return honest.leaseDuration(asked);
    }

    @Override
    public boolean queuesWaiters() {
        return honest.queuesWaiters();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return honest.admin().map(ForwardingAdmin::new);
    }

    @Override
    public void close() {
        honest.close();
    }
}
