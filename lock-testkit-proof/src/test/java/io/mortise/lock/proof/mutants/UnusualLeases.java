// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.proof.FaultyLeaseStore;
import io.mortise.lock.proof.TableBackendUnderTest;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Runs the conformance tests on a table that supports other lease durations than most stores. */
abstract class UnusualLeases extends LockConformance {
    private final Duration lease;
    private final Duration defaultLease;
    private final UnaryOperator<Duration> inForce;

    /**
     * @param lease the lease duration of the tests
     * @param defaultLease the one if none is requested
     * @param inForce returns the one in force, as {@link LeaseStore#leaseDuration} does
     */
    private UnusualLeases(Duration lease, Duration defaultLease, UnaryOperator<Duration> inForce) {
        this.lease = lease;
        this.defaultLease = defaultLease;
        this.inForce = inForce;
    }

    @Override
    protected BackendUnderTest backend() {
        return new TableBackendUnderTest() {
            @Override
            public String description() {
                return UnusualLeases.this.getClass().getSimpleName();
            }

            @Override
            public Duration lease() {
                return lease;
            }

            @Override
            protected FaultyLeaseStore newLink() {
                return new FaultyLeaseStore(this) {
                    @Override
                    public Duration leaseDuration(Optional<Duration> requested) {
                        return inForce.apply(requested.orElse(defaultLease));
                    }
                };
            }
        };
    }

    /** Rejects durations outside of the limits, with the limit in the message. */
    private static UnaryOperator<Duration> within(Duration shortest, Duration longest) {
        return requested -> {
            if (requested.compareTo(shortest) < 0 || requested.compareTo(longest) > 0) {
                throw new IllegalArgumentException(
                        "lease duration " + requested + ": must be " + shortest + " to " + longest);
            }
            return requested;
        };
    }

    /** A store that rounds up to whole seconds. */
    static final class WholeSeconds extends UnusualLeases {
        WholeSeconds() {
            super(
                    Duration.ofSeconds(4),
                    Duration.ofSeconds(8),
                    requested -> Duration.ofSeconds(
                            requested.plusSeconds(1).minusNanos(1).toSeconds()));
        }
    }

    /** A store that counts in units of 10 s, and rounds up to them. */
    static final class TensOfSeconds extends UnusualLeases {
        TensOfSeconds() {
            super(
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(20),
                    requested -> Duration.ofSeconds(
                            requested.plusSeconds(10).minusNanos(1).toSeconds() / 10 * 10));
        }
    }

    /** A wrong store, which grants leases of 1 h, whatever was requested. */
    static final class AlwaysOneHour extends UnusualLeases {
        AlwaysOneHour() {
            super(Duration.ofSeconds(4), Duration.ofSeconds(8), requested -> Duration.ofHours(1));
        }
    }

    /** A store that supports no leases below 12 s. */
    static final class AtLeast12Seconds extends UnusualLeases {
        AtLeast12Seconds() {
            super(Duration.ofSeconds(12), Duration.ofSeconds(24), within(Duration.ofSeconds(12), Duration.ofHours(1)));
        }
    }

    /** A store that supports no leases above 10 s. */
    static final class AtMost10Seconds extends UnusualLeases {
        AtMost10Seconds() {
            super(Duration.ofSeconds(4), Duration.ofSeconds(8), within(Duration.ofSeconds(1), Duration.ofSeconds(10)));
        }
    }

    /** A store that supports no leases above 5 s, hardly more than those of the tests. */
    static final class AtMost5Seconds extends UnusualLeases {
        AtMost5Seconds() {
            super(Duration.ofSeconds(4), Duration.ofSeconds(5), within(Duration.ofSeconds(1), Duration.ofSeconds(5)));
        }
    }

    /** A wrong backend, which rounds down to whole seconds; {@code LeaseStoreBackend} lets no store do so. */
    static final class RoundedDown extends LockConformance {
        @Override
        protected BackendUnderTest backend() {
            return new TableBackendUnderTest() {
                @Override
                public String description() {
                    return "RoundedDown";
                }

                @Override
                protected LockBackend backend(FaultyLeaseStore link, BackendContext context) {
                    return new PlainForwardingBackend(super.backend(link, context)) {
                        @Override
                        public Duration leaseDuration(Optional<Duration> requested) {
                            return Duration.ofSeconds(
                                    super.leaseDuration(requested).toSeconds());
                        }
                    };
                }
            };
        }
    }
}
