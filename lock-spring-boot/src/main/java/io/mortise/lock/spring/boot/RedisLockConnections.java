// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.RedisLocks;
import io.mortise.lock.redis.RedisOptions;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.ssl.SslBundle;
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
                DataRedisConnectionDetails details, LockProperties properties, Environment environment) {
            SslBundle ssl = details.getSslBundle();
            // Spring Boot takes TLS from the URL too, which the details do not tell.
            String url = environment.getProperty("spring.data.redis.url", "");
            RedisOptions options = options(details, ssl != null || url.startsWith("rediss:"));
            return connection(
                    "the connection of spring.data.redis",
                    ssl == null ? options : options.sslOptions(sslOptions(ssl)),
                    properties);
        }

        /** Asks in the order of Spring Boot, whose details name a standalone server in any case, perhaps by default. */
        private static RedisOptions options(DataRedisConnectionDetails details, boolean tls) {
            DataRedisConnectionDetails.Sentinel sentinels = details.getSentinel();
            if (sentinels != null) {
                return RedisOptions.connectTo(sentinels(sentinels, details, tls));
            }
            DataRedisConnectionDetails.Cluster cluster = details.getCluster();
            if (cluster != null) {
                List<RedisURI> nodes = cluster.getNodes().stream()
                        .map(node -> access(uri(node), details, tls).build())
                        .toList();
                return RedisOptions.connectToCluster(nodes);
            }
            DataRedisConnectionDetails.Standalone server = details.getStandalone();
            if (server != null && details.getMasterReplica() == null) {
                RedisURI.Builder uri = uri(new Node(server.getHost(), server.getPort()));
                return RedisOptions.connectTo(access(uri, details, tls)
                        .withDatabase(server.getDatabase())
                        .build());
            }
            throw new LockConfigurationException(
                    "spring.data.redis names a master and its replicas, without a way to find "
                            + "the next master: locks need one server, sentinels or a cluster; or set mortise.url");
        }

        private static RedisURI sentinels(
                DataRedisConnectionDetails.Sentinel sentinels, DataRedisConnectionDetails details, boolean tls) {
            RedisURI.Builder uri = RedisURI.builder()
                    .withSentinelMasterId(sentinels.getMaster())
                    .withDatabase(sentinels.getDatabase());
            for (Node node : sentinels.getNodes()) {
                RedisURI.Builder sentinel = uri(node).withSsl(tls);
                uri.withSentinel(credentials(sentinel, sentinels.getUsername(), sentinels.getPassword())
                        .build());
            }
            return access(uri, details, tls).build();
        }

        private static RedisURI.Builder uri(Node node) {
            return RedisURI.builder().withHost(node.host()).withPort(node.port());
        }

        private static RedisURI.Builder access(RedisURI.Builder uri, DataRedisConnectionDetails details, boolean tls) {
            return credentials(uri.withSsl(tls), details.getUsername(), details.getPassword());
        }

        private static RedisURI.Builder credentials(
                RedisURI.Builder uri, @Nullable String user, @Nullable String password) {
            if (password == null) {
                return uri;
            }
            return user == null || user.isEmpty()
                    ? uri.withPassword(password.toCharArray())
                    : uri.withAuthentication(user, password.toCharArray());
        }

        private static SslOptions sslOptions(SslBundle bundle) {
            SslOptions.Builder options = SslOptions.builder()
                    .keyManager(bundle.getManagers().getKeyManagerFactory())
                    .trustManager(bundle.getManagers().getTrustManagerFactory());
            String[] ciphers = bundle.getOptions().getCiphers();
            if (ciphers != null) {
                options.cipherSuites(ciphers);
            }
            String[] protocols = bundle.getOptions().getEnabledProtocols();
            if (protocols != null) {
                options.protocols(protocols);
            }
            return options.build();
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
