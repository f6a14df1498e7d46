// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.etcd.jetcd.Client;
import io.mortise.lock.etcd.EtcdLocks;
import io.mortise.lock.etcd.EtcdOptions;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** The application's client of jetcd. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EtcdLocks.class)
class EtcdLockConnections {
    @Bean
    @Lazy // not made if there is a URL
    @ConditionalOnBean(Client.class)
    LockConnection mortiseEtcdClientConnection(Client client, LockProperties properties) {
        LockProperties.refuse(
                "wait-replicas", properties.waitReplicas(), "Only Redis has it, and the locks are in etcd.");
        EtcdOptions options = LockProperties.set(
                "namespace", properties.namespace(), EtcdOptions.using(client), EtcdOptions::namespace);
        EtcdOptions complete =
                LockProperties.set("lease-duration", properties.leaseDuration(), options, EtcdOptions::leaseDuration);
        return new LockConnection("the jetcd Client bean", clientOptions -> EtcdLocks.connect(complete, clientOptions));
    }
}
