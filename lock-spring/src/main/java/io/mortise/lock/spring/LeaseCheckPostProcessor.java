// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Has each transaction manager check the leases before it commits a transaction that began while a method held a lock: a lost
 * lease rolls the transaction back. Needs spring-tx.
 */
final class LeaseCheckPostProcessor implements BeanPostProcessor {
    private static final TransactionExecutionListener CHECK = new TransactionExecutionListener() {
        @Override
        public void beforeCommit(TransactionExecution transaction) {
            HeldLock.ensureAllHeld();
        }
    };

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof ConfigurableTransactionManager manager
                && !manager.getTransactionExecutionListeners().contains(CHECK)) {
            manager.addListener(CHECK);
        }
        return bean;
    }
}
