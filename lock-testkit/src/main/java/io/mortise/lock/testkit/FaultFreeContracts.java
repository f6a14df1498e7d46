// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** Combines all groups of conformance tests that inject no faults. */
interface FaultFreeContracts
        extends ExclusionContract,
                ReleaseContract,
                DelayedReleaseContract,
                BystanderContract,
                CallbackContract,
                WithdrawalContract,
                WaitingContract,
                NamesContract,
                VirtualThreadsContract,
                ClosingContract,
                AdminContract,
                CapabilityContract,
                RunContract,
                ElectionContract,
                ClaimedCapabilitiesContract,
                ManyNamesContract,
                HostileTextContract,
                RequestCountContract {}
