// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A {@link LockBackend} that forwards every call to another one; each mutant overrides the step that it gets wrong. */
class ForwardingBackend extends PlainForwardingBackend {
    final MutantConnection connection;

    ForwardingBackend(LockBackend delegate, MutantConnection connection) {
        super(delegate);
        this.connection = connection;
    }

    /** Returns the request to pass to the store. */
    LockRequest request(LockRequest request) {
        return request;
    }

    /** Returns the listener through which the core receives hints and losses. */
    ContenderListener listener(LockRequest request, ContenderListener core) {
        return new ContenderListener() {
            @Override
            public void wake() {
                ForwardingBackend.this.wake(core);
            }

            @Override
            public void lost(LossReason reason) {
                ForwardingBackend.this.lost(request, core, reason);
            }

            @Override
            public boolean isStillWaiting() {
                return core.isStillWaiting();
            }
        };
    }

    /** Passes on a hint. */
    void wake(ContenderListener core) {
        core.wake();
    }

    /** Passes on the loss of a grant. */
    void lost(LockRequest request, ContenderListener core, LossReason reason) {
        core.lost(reason);
    }

    /** Makes one attempt. */
    CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
        return contender.attempt().thenApply(result -> result(request, result));
    }

    /** Returns the result of an attempt to pass to the core. */
    AttemptResult result(LockRequest request, AttemptResult result) {
        return result instanceof AttemptResult.Granted granted ? granted(request, granted) : result;
    }

    /** Returns the grant to pass to the core. */
    AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
        return new AttemptResult.Granted(granted.token(), validity(request, granted.validity()));
    }

    final GrantValidity validity(LockRequest request, GrantValidity validity) {
        return ForwardingGrantValidity.of(
                connection.context().clock(),
                validity,
                request.leaseDuration().dividedBy(3),
                until -> validUntil(request, until),
                this);
    }

    /** Returns the instant until which the core considers the lease valid. */
    MonotonicInstant validUntil(LockRequest request, MonotonicInstant until) {
        return until;
    }

    /** Withdraws the attempt or releases its grant. */
    CompletionStage<Boolean> end(LockRequest request, Contender contender) {
        return contender.end();
    }

    /** Called when a renewal got no reply. */
    void renewalUnknown(GrantValidity validity, Throwable cause) {
        validity.renewalUnknown(cause);
    }

    /** Called when a renewal found no grant. */
    void renewalLost(GrantValidity validity, LossReason reason) {
        validity.lost(reason);
    }

    @Override
    public final Contender enqueue(LockRequest request, ContenderListener waiter) {
        Contender contender = delegate.enqueue(request(request), listener(request, waiter));
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
            public CompletionStage<Boolean> endAfter(Duration delay) {
                return contender.endAfter(delay);
            }

            @Override
            public void abandon() {
                contender.abandon();
            }
        };
    }

    /** Renews only real grants, since the store does not know forged ones. */
    @Override
    public void renew(List<GrantValidity> due) {
        List<GrantValidity> known = due.stream()
                .filter(ForwardingGrantValidity.class::isInstance)
                .map(validity -> ((ForwardingGrantValidity) validity).delegate)
                .toList();
        if (!known.isEmpty()) {
            delegate.renew(known);
        }
    }

    @Override
    public Optional<LockAdmin> admin() {
        return delegate.admin().map(ForwardingAdmin::new);
    }
}
