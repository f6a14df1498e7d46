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
                CallContract,
                ClaimedCapabilitiesContract,
                LeftoversContract,
                HostileTextContract,
                RequestsContract {}
