// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.mortise.lock.redis.RedisLocks;
import io.mortise.lock.redis.RedisOptions;
import java.util.List;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.MethodMetadata;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The application's connections to Redis: what Spring Boot knows of the server, or a client of Lettuce. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisLocks.class)
class RedisLockConnections {
    private static LockConnection connection(String description, RedisOptions redis, LockProperties properties) {
        RedisOptions options = LockProperties.set("namespace", properties.namespace(), redis, RedisOptions::prefix);
        options =
                LockProperties.set("lease-duration", properties.leaseDuration(), options, RedisOptions::leaseDuration);
        RedisOptions complete =
                LockProperties.set("wait-replicas", properties.waitReplicas(), options, RedisOptions::waitReplicas);
        return new LockConnection(description, clientOptions -> RedisLocks.connect(complete, clientOptions));
    }

    @Bean
    @Lazy // not made if there is a URL
    @ConditionalOnBean(RedisClient.class)
    LockConnection mortiseRedisClientConnection(RedisClient client, LockProperties properties) {
        return connection("the RedisClient bean", RedisOptions.using(client), properties);
    }

    @Bean
    @Lazy // not made if there is a URL
    @ConditionalOnBean(RedisClusterClient.class)
    LockConnection mortiseRedisClusterClientConnection(RedisClusterClient client, LockProperties properties) {
        return connection("the RedisClusterClient bean", RedisOptions.using(client), properties);
    }

    /** The server of {@code spring.data.redis.*}, of {@code @ServiceConnection} or of Docker Compose. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DataRedisConnectionDetails.class)
    static class OfSpringBoot {
        @Bean
        @Lazy // not made if there is a URL
        @ConditionalOnBean(DataRedisConnectionDetails.class)
        @Conditional(OnBootRedisConnectionFactory.class)
        LockConnection mortiseDataRedisConnection(
                DataRedisConnectionDetails details,
                ObjectProvider<LettuceConnectionFactory> lettuce,
                LockProperties properties,
                Environment environment) {
            return connection(
                    "the connection of spring.data.redis",
                    DataRedisServer.of(details, lettuce.getIfAvailable(), environment)
                            .options(),
                    properties);
        }
    }

    /**
     * Matches if Spring Boot made the connection factory, or there is none. A factory or configuration of the application may
     * name another server than the details do, and locks there would exclude nobody.
     */
    static class OnBootRedisConnectionFactory extends SpringBootCondition implements ConfigurationCondition {
        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
            for (Class<?> type : List.of(RedisConnectionFactory.class, RedisConfiguration.class)) {
                for (String name : beans.getBeanNamesForType(type, true, false)) {
                    if (!isOfSpringBoot(beans, name)) {
                        return ConditionOutcome.noMatch("the application defines " + name
                                + ", whose server may be another one than that of spring.data.redis");
                    }
                }
            }
            return ConditionOutcome.match();
        }

        private static boolean isOfSpringBoot(ConfigurableListableBeanFactory beans, String name) {
            if (!beans.containsBeanDefinition(name)
                    || !(beans.getBeanDefinition(name) instanceof AnnotatedBeanDefinition definition)) {
                return false;
            }
            MethodMetadata method = definition.getFactoryMethodMetadata();
            return method != null && method.getDeclaringClassName().startsWith("org.springframework.boot.");
        }
    }
}
