// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Ties leases to the transaction of the calling thread. Loaded only if spring-tx is present. */
final class TransactionLeases {
    private TransactionLeases() {}

    /**
     * Leaves the release to the current transaction, which rolls back if the lease is lost before its commit.
     *
     * @return false if there is no transaction
     */
    static boolean register(HeldLock held) {
        if (!TransactionSynchronizationManager.isSynchronizationActive()
                || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return false;
        }
        // Its default order is the lowest precedence: after others have written what they still had.
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                held.lease().ensureHeld();
            }

            @Override
            public void afterCompletion(int status) {
                held.releaseAfterCompletion();
            }
        });
        return true;
    }
}
