// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Passes everything on. A mutant overrides the one step that it gets wrong. */
class ForwardingBackend implements LockBackend {
    final LockBackend honest;
    final MutantConnection connection;

    ForwardingBackend(LockBackend honest, MutantConnection connection) {
        this.honest = honest;
        this.connection = connection;
    }

    /** What the store is asked for. */
    LockRequest asked(LockRequest request) {
        return request;
    }

    /** What the core hears of hints and losses. */
    ContenderListener heard(LockRequest request, ContenderListener core) {
        return core;
    }

    /** One attempt. */
    CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
        return contender.attempt().thenApply(answer -> answered(request, answer));
    }

    /** What the core is told of an answer. */
    AttemptResult answered(LockRequest request, AttemptResult answer) {
        return answer instanceof AttemptResult.Granted granted ? granted(request, granted) : answer;
    }

    /** What the core is told of a grant. */
    AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
        return new AttemptResult.Granted(granted.token(), validity(request, granted.validity()));
    }

    final GrantValidity validity(LockRequest request, GrantValidity made) {
        return ForwardingGrantValidity.of(
                connection.context().clock(),
                made,
                request.leaseDuration().dividedBy(3),
                until -> validUntil(request, until),
                this);
    }

    /** Until when the core believes. */
    MonotonicTime validUntil(LockRequest request, MonotonicTime until) {
        return until;
    }

    /** Withdrawal or release. */
    CompletionStage<Boolean> end(LockRequest request, Contender contender) {
        return contender.end();
    }

    /** A renewal had no answer. */
    void renewalUnknown(GrantValidity validity, Throwable cause) {
        validity.unknown(cause);
    }

    /** A renewal found no grant. */
    void renewalLost(GrantValidity validity, LossReason reason) {
        validity.lost(reason);
    }

    @Override
    public final Contender enqueue(LockRequest request, ContenderListener waiter) {
        Contender contender = honest.enqueue(asked(request), heard(request, waiter));
        return new Contender() {
            @Override
            public CompletionStage<AttemptResult> attempt() {
                return ForwardingBackend.this.attempt(request, contender);
            }

            @Override
            public CompletionStage<Boolean> end() {
                return ForwardingBackend.this.end(request, contender);
            }

            @Override
            public void abandon() {
                contender.abandon();
            }
        };
    }

    /** A grant that was forged is not the store's to renew. */
    @Override
    public void renew(List<GrantValidity> due) {
        List<GrantValidity> known = due.stream()
                .filter(ForwardingGrantValidity.class::isInstance)
                .map(validity -> ((ForwardingGrantValidity) validity).honest)
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
