// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperOptions;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** The application's sessions with ZooKeeper: Curator's, or plain handles. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ZooKeeperLocks.class)
class ZooKeeperLockConnections {
    private static LockConnection connection(
            String description, Supplier<ZooKeeper> handle, LockProperties properties) {
        LockProperties.refuse(
                "wait-replicas", properties.waitReplicas(), "Only Redis has it, and the locks are in ZooKeeper.");
        LockProperties.refuse(
                "lease-duration",
                properties.leaseDuration(),
                "In ZooKeeper the timeout of the application's session decides.");
        ZooKeeperOptions options = LockProperties.set(
                "namespace", properties.namespace(), ZooKeeperOptions.using(handle), ZooKeeperOptions::basePath);
        return new LockConnection(description, clientOptions -> ZooKeeperLocks.connect(options, clientOptions));
    }

    @Bean
    @Lazy // not made if there is a URL
    @ConditionalOnBean(ZooKeeper.class)
    LockConnection mortiseZooKeeperConnection(ZooKeeper handle, LockProperties properties) {
        return connection("the ZooKeeper bean", () -> handle, properties);
    }

    /** Curator replaces an expired handle, so each call asks for the current one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(CuratorFramework.class)
    static class OfCurator {
        @Bean
        @Lazy // not made if there is a URL
        @ConditionalOnBean(CuratorFramework.class)
        LockConnection mortiseCuratorConnection(CuratorFramework curator, LockProperties properties) {
            return connection("the CuratorFramework bean", () -> handle(curator), properties);
        }

        private static ZooKeeper handle(CuratorFramework client) {
            try {
                return client.getZookeeperClient().getZooKeeper();
            } catch (Exception e) {
                throw new IllegalStateException("Curator has no connection to ZooKeeper: " + e, e);
            }
        }
    }
}
