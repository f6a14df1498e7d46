// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/** Selects the configuration classes of {@link EnableLocking}; the one for transactions only if spring-tx is present. */
final class LockingImportSelector implements ImportSelector {
    @Override
    public String[] selectImports(AnnotationMetadata importing) {
        String proxies = AutoProxyRegistration.class.getName();
        String locking = LockingConfiguration.class.getName();
        return ClassUtils.isPresent(
                        "org.springframework.transaction.TransactionExecutionListener",
                        getClass().getClassLoader())
                ? new String[] {proxies, locking, TransactionLockingConfiguration.class.getName()}
                : new String[] {proxies, locking};
    }
}
