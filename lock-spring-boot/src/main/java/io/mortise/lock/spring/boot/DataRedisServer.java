// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.RedisOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The server, sentinels or cluster that Spring Boot's connection details name, with what its client says about TLS and credentials.
 *
 * @param details where the servers are
 * @param client the client's configuration, which the application's customizers have changed
 * @param lettuce Spring Boot's connection factory; null if the application uses another library than Lettuce
 */
record DataRedisServer(
        DataRedisConnectionDetails details,
        LettuceClientConfiguration client,
        @Nullable LettuceConnectionFactory lettuce) {

    static DataRedisServer of(
            DataRedisConnectionDetails details, @Nullable LettuceConnectionFactory lettuce, Environment environment) {
        return new DataRedisServer(
                details,
                lettuce == null
                        ? withoutLettuce(details.getSslBundle(), environment)
                        : lettuce.getClientConfiguration(),
                lettuce);
    }

    private static LettuceClientConfiguration withoutLettuce(@Nullable SslBundle ssl, Environment environment) {
        LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
        // Spring Boot takes TLS from the URL too, which the details do not tell.
        if (ssl != null || environment.getProperty("spring.data.redis.url", "").startsWith("rediss:")) {
            client.useSsl();
        }
        if (ssl != null) {
            client.clientOptions(
                    ClientOptions.builder().sslOptions(sslOptions(ssl)).build());
        }
        return client.build();
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

    /** Returns the options of a connection to the same servers. */
    RedisOptions options() {
        RedisOptions options = target();
        return client.getClientOptions()
                .map(ClientOptions::getSslOptions)
                .filter(ssl -> ssl != ClientOptions.DEFAULT_SSL_OPTIONS)
                .map(options::sslOptions)
                .orElse(options);
    }

    /** Asks in the order of Spring Boot, whose details name a standalone server in any case, perhaps by default. */
    private RedisOptions target() {
        DataRedisConnectionDetails.Sentinel sentinels = details.getSentinel();
        if (sentinels != null) {
            return RedisOptions.connectTo(uri(sentinels));
        }
        DataRedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            RedisConfiguration configuration = lettuce == null ? null : lettuce.getClusterConfiguration();
            List<RedisURI> nodes = cluster.getNodes().stream()
                    .map(node -> access(uri(node), configuration).build())
                    .toList();
            return RedisOptions.connectToCluster(nodes);
        }
        DataRedisConnectionDetails.Standalone server = details.getStandalone();
        if (server != null && details.getMasterReplica() == null) {
            RedisURI.Builder uri =
                    uri(new Node(server.getHost(), server.getPort())).withDatabase(server.getDatabase());
            return RedisOptions.connectTo(access(uri, lettuce == null ? null : lettuce.getStandaloneConfiguration())
                    .build());
        }
        throw new LockConfigurationException("spring.data.redis names a master and its replicas, without a way to find "
                + "the next master: locks need one server, sentinels or a cluster; or set mortise.url");
    }

    private RedisURI uri(DataRedisConnectionDetails.Sentinel sentinels) {
        RedisSentinelConfiguration configuration = lettuce == null ? null : lettuce.getSentinelConfiguration();
        RedisCredentialsProviderFactory tokens =
                client.getRedisCredentialsProviderFactory().orElse(null);
        RedisURI.Builder uri =
                RedisURI.builder().withSentinelMasterId(sentinels.getMaster()).withDatabase(sentinels.getDatabase());
        for (Node node : sentinels.getNodes()) {
            RedisURI.Builder sentinel =
                    credentials(secured(uri(node)), sentinels.getUsername(), sentinels.getPassword());
            if (tokens != null && configuration != null) {
                sentinel.withAuthentication(tokens.createSentinelCredentialsProvider(configuration));
            }
            uri.withSentinel(sentinel.build());
        }
        return access(uri, configuration).build();
    }

    private static RedisURI.Builder uri(Node node) {
        return RedisURI.builder().withHost(node.host()).withPort(node.port());
    }

    private RedisURI.Builder access(RedisURI.Builder uri, @Nullable RedisConfiguration configuration) {
        RedisURI.Builder access = credentials(secured(uri), details.getUsername(), details.getPassword());
        // What creates the credentials from Spring Data's configuration, such as tokens of a cloud provider.
        RedisCredentialsProviderFactory tokens =
                client.getRedisCredentialsProviderFactory().orElse(null);
        return tokens == null || configuration == null
                ? access
                : access.withAuthentication(tokens.createCredentialsProvider(configuration));
    }

    private RedisURI.Builder secured(RedisURI.Builder uri) {
        return uri.withSsl(client.isUseSsl()).withStartTls(client.isStartTls()).withVerifyPeer(client.getVerifyMode());
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
}
