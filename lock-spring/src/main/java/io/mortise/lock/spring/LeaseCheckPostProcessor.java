// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Has each transaction manager check the leases before it commits a transaction that began while a method held a lock: a lost
 * lease rolls the transaction back. Needs spring-tx.
 */
final class LeaseCheckPostProcessor implements BeanPostProcessor, SmartInitializingSingleton {
    private static final TransactionExecutionListener CHECK = new TransactionExecutionListener() {
        @Override
        public void beforeCommit(TransactionExecution transaction) {
            HeldLock.ensureAllHeld();
        }
    };

    private final ConfigurableListableBeanFactory beans;

    LeaseCheckPostProcessor(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        addCheck(bean);
        return bean;
    }

    /** Adds the check to managers that this post-processor has not seen: those created before it, and of parent contexts. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : managers(beans)) {
            if (beans.containsSingleton(name)) { // others will be seen when they are created
                addCheck(beans.getBean(name));
            }
        }
        for (BeanFactory parent = beans.getParentBeanFactory();
                parent instanceof ListableBeanFactory listable;
                parent = parent instanceof HierarchicalBeanFactory child ? child.getParentBeanFactory() : null) {
            for (String name : managers(listable)) {
                addCheck(listable.getBean(name));
            }
        }
    }

    private static String[] managers(ListableBeanFactory factory) {
        return factory.getBeanNamesForType(ConfigurableTransactionManager.class, false, false);
    }

    private static void addCheck(Object bean) {
        if (bean instanceof ConfigurableTransactionManager manager
                && !manager.getTransactionExecutionListeners().contains(CHECK)) {
            manager.addListener(CHECK);
        }
    }
}
