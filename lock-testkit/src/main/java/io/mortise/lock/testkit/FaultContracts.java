// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** Contracts that need {@link Faults}, or processes that freeze or die. */
interface FaultContracts
        extends SilentLinkContract,
                DeletionContract,
                ForcedExpiryContract,
                LostReplyContract,
                CutLinkContract,
                SlowLinkContract,
                RestartContract,
                ProcessContract,
                HistoryContract {}
