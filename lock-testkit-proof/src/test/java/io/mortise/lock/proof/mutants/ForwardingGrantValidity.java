// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** A {@link GrantValidity} that mirrors another one, except that its deadline may differ. */
final class ForwardingGrantValidity extends GrantValidity {
    final GrantValidity delegate;

    private ForwardingGrantValidity(
            LockClock clock, GrantValidity delegate, Duration renewEvery, UnaryOperator<MonotonicInstant> deadline) {
        super(clock, renewEvery, deadline.apply(delegate.validUntil()));
        this.delegate = delegate;
    }

    static ForwardingGrantValidity of(
            LockClock clock,
            GrantValidity delegate,
            Duration renewEvery,
            UnaryOperator<MonotonicInstant> deadline,
            ForwardingBackend backend) {
        ForwardingGrantValidity forwarding = new ForwardingGrantValidity(clock, delegate, renewEvery, deadline);
        boolean attached = delegate.attach(new Listener() {
            @Override
            public void extended() {
                forwarding.extend(deadline.apply(delegate.validUntil()));
            }

            @Override
            public void renewalUnknown(Throwable cause) {
                backend.renewalUnknown(forwarding, cause);
            }

            @Override
            public void lost(LossReason reason) {
                backend.renewalLost(forwarding, reason);
            }
        });
        if (!attached) {
            forwarding.lost(delegate.reason().orElseThrow());
        }
        return forwarding;
    }
}
