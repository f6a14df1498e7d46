// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.connect.Locks;
import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * Auto-configuration of the {@link LockClient}: by {@code mortise.url}, otherwise by the only connection that the application
 * has to a store whose module is on the class path. Backs off if the application has a client of its own.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration"
        })
@ConditionalOnMissingBean(LockClient.class)
@EnableConfigurationProperties(LockProperties.class)
@Import({RedisLockConnections.class, EtcdLockConnections.class, ZooKeeperLockConnections.class})
public final class LockClientAutoConfiguration {
    private static final String CLIENT = "mortiseLockClient";

    /** Creates the configuration; called by Spring. */
    LockClientAutoConfiguration() {}

    @Bean(CLIENT)
    LockClient mortiseLockClient(
            LockProperties properties, ConfigurableListableBeanFactory beans, Environment environment) {
        ClientOptions options = properties.clientOptions();
        if (Threading.VIRTUAL.isActive(environment)) {
            options = options.callbackExecutor(new VirtualThreadTaskExecutor("mortise-callback-"));
        }
        for (LockListener listener : dependencies(LockListener.class, beans)) {
            options = options.listener(listener);
        }
        for (ClientOptionsCustomizer customizer : dependencies(ClientOptionsCustomizer.class, beans)) {
            options = customizer.customize(options);
        }
        if (properties.url() != null) {
            return Locks.connect(properties.url(), options);
        }
        List<LockConnection> found = dependencies(LockConnection.class, beans);
        if (found.size() != 1) {
            throw new LockConnectionException(
                    found.stream().map(LockConnection::description).toList());
        }
        return found.get(0).open().apply(options);
    }

    /** Returns the beans of a type, which the context is to destroy after the client. An ObjectProvider would not tell it. */
    private static <T> List<T> dependencies(Class<T> type, ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanNamesForType(type)) {
            beans.registerDependentBean(name, CLIENT);
        }
        return beans.getBeanProvider(type).orderedStream().toList();
    }
}
