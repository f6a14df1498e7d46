// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.SslOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.TestServers;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.TestServerExtension;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/** Tests that the locks' own connection has the TLS settings and credentials of the application's one. */
class DataRedisSecurityTest {
    private static final String PASSWORD = "s3cret";

    @RegisterExtension
    static final TestServerExtension<RedisTestServer> redis = TestServers.redis(
            RedisServerOptions.defaults().withPassword(PASSWORD).withTls());

    /** The application on the port with TLS, whose certificate no authority has signed. */
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    SslAutoConfiguration.class, DataRedisAutoConfiguration.class, LockClientAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.host=127.0.0.1",
                    "spring.data.redis.port="
                            + URI.create(redis.startedServer().tlsUrl()).getPort(),
                    "mortise.connect-timeout=20s");

    private final ApplicationContextRunner withPassword =
            application.withPropertyValues("spring.data.redis.password=" + PASSWORD);

    private static void locks(ApplicationContextRunner application) {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            try (Lease lease =
                    context.getBean(LockClient.class).named("tls").tryAcquire().orElseThrow()) {
                assertThat(lease.isHeld()).isTrue();
            }
        });
    }

    @Test
    void anSslBundleIsUsed() {
        locks(withPassword.withPropertyValues(
                "spring.ssl.bundle.pem.redis.truststore.certificate="
                        + redis.startedServer().certificate().toUri(),
                "spring.data.redis.ssl.bundle=redis"));
    }

    @Test
    void anSslBundleIsUsedWithoutLettuceToo() {
        locks(withPassword.withPropertyValues(
                "spring.ssl.bundle.pem.redis.truststore.certificate="
                        + redis.startedServer().certificate().toUri(),
                "spring.data.redis.ssl.bundle=redis",
                "spring.data.redis.client-type=jedis"));
    }

    @Test
    void aCertificateOfAnUnknownAuthorityIsRefused() {
        withPassword
                .withPropertyValues("spring.data.redis.ssl.enabled=true", "mortise.connect-timeout=1s")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void theCustomizersOfTheConfigurationAreApplied() {
        locks(withPassword.withBean(
                LettuceClientConfigurationBuilderCustomizer.class,
                () -> client -> client.useSsl().disablePeerVerification()));
    }

    @Test
    void theCustomizersOfTheOptionsAreApplied() {
        locks(withPassword
                .withPropertyValues("spring.data.redis.ssl.enabled=true")
                .withBean(
                        LettuceClientOptionsBuilderCustomizer.class,
                        () -> options -> options.sslOptions(SslOptions.builder()
                                .trustManager(
                                        redis.startedServer().certificate().toFile())
                                .build())));
    }

    @Test
    void credentialsAreThoseOfTheProvider() {
        locks(application.withBean(
                LettuceClientConfigurationBuilderCustomizer.class,
                () -> client -> client.redisCredentialsProviderFactory(new Tokens())
                        .useSsl()
                        .disablePeerVerification()));
    }

    /** Credentials as cloud providers give them, without a password in the configuration. */
    private static final class Tokens implements RedisCredentialsProviderFactory {
        @Override
        public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
            return RedisCredentialsProvider.from(() -> RedisCredentials.just(null, PASSWORD));
        }
    }
}
