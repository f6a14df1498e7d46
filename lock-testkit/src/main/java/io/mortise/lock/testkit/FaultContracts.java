// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** What needs {@link Faults}, or processes that stand still or die. */
interface FaultContracts
        extends SilenceContract,
                DeletionContract,
                ExpiryContract,
                LostReplyContract,
                CutLineContract,
                SlowLineContract,
                RestartContract,
                ProcessContract,
                HistoryContract {}
