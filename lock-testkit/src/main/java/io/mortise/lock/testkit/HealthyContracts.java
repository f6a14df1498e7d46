// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** Contracts that inject no faults. */
interface HealthyContracts
        extends ExclusionContract,
                ReleaseContract,
                WithdrawalContract,
                WaitingContract,
                NamesContract,
                VirtualThreadsContract,
                ClosingContract,
                AdminContract,
                CapabilityContract,
                RunContract,
                ClaimedCapabilitiesContract,
                LeftoversContract,
                HostileTextContract,
                RequestCountContract {}
