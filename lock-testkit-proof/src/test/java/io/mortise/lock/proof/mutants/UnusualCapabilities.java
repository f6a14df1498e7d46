// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Capability;
import io.mortise.lock.proof.FaultyLeaseStore;
import io.mortise.lock.proof.TableBackendUnderTest;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Runs the conformance tests on a table that claims other capabilities than most stores. */
abstract class UnusualCapabilities extends LockConformance {
    /** Returns what the backend claims. */
    abstract Set<Capability> claimed(Set<Capability> ofTable);

    /** Returns the store of a new client. */
    FaultyLeaseStore store(TableBackendUnderTest table) {
        return new FaultyLeaseStore(table);
    }

    @Override
    protected BackendUnderTest backend() {
        return new TableBackendUnderTest() {
            @Override
            public String description() {
                return UnusualCapabilities.this.getClass().getSimpleName();
            }

            @Override
            protected FaultyLeaseStore newLink() {
                return store(this);
            }

            @Override
            protected LockBackend backend(FaultyLeaseStore link, BackendContext context) {
                return new PlainForwardingBackend(super.backend(link, context)) {
                    @Override
                    public Set<Capability> capabilities() {
                        return claimed(EnumSet.copyOf(super.capabilities()));
                    }
                };
            }
        };
    }

    /** A correct store without an expiry: an operator frees the locks of holders that died. */
    static final class NoExpiry extends UnusualCapabilities {
        @Override
        Set<Capability> claimed(Set<Capability> ofTable) {
            ofTable.removeAll(Set.of(Capability.CRASH_RELEASE, Capability.DELAYED_RELEASE));
            return ofTable;
        }

        @Override
        FaultyLeaseStore store(TableBackendUnderTest table) {
            Duration forever = Duration.ofHours(1);
            return new FaultyLeaseStore(table) {
                @Override
                public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
                    return super.tryAcquire(name, ownerRecord, forever);
                }

                @Override
                public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
                    return super.renew(grants, forever);
                }
            };
        }
    }

    /** A wrong store, whose clients each order their own waiters, but not those of others. */
    static final class LocallyFair extends UnusualCapabilities {
        @Override
        Set<Capability> claimed(Set<Capability> ofTable) {
            ofTable.add(Capability.FAIR);
            return ofTable;
        }
    }
}
