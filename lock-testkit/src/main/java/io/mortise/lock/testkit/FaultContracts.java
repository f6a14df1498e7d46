// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** Combines all groups of conformance tests that inject faults, or that freeze and kill processes. */
interface FaultContracts
        extends RandomOperationsContract,
                RenewalContract,
                SilentLinkContract,
                DeletionContract,
                ForcedExpiryContract,
                LostReplyContract,
                CutLinkContract,
                SlowLinkContract,
                DelayedReleaseFaultContract,
                RestartContract,
                ElectionFaultContract,
                ProcessContract,
                HistoryContract,
                LockGroupContract,
                LeaseLockContract {}
