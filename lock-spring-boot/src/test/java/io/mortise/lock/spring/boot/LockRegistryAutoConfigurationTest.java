// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spring.integration.MortiseLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/** Tests when there is a lock registry for Spring Integration, and the names of its locks. */
class LockRegistryAutoConfigurationTest {
    private static final String URL = "mortise.url=memory:boot-registry";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(LockClientAutoConfiguration.class, LockRegistryAutoConfiguration.class));

    /** Asks for a registry by each type that a component may ask for. */
    static final class Component {
        private final LockRegistry<DistributedLock> registry;

        Component(
                LockRegistry<?> any,
                LockRegistry<DistributedLock> registry,
                ExpirableLockRegistry<DistributedLock> expirable,
                RenewableLockRegistry<DistributedLock> renewable) {
            this.registry = registry;
            assertThat(any).isSameAs(registry).isSameAs(expirable).isSameAs(renewable);
        }
    }

    @Test
    void componentsGetARegistryOfTheClient() {
        application.withPropertyValues(URL).withBean(Component.class).run(context -> {
            LockClient client = context.getBean(LockClient.class);
            context.getBean(Component.class)
                    .registry
                    .executeLocked(
                            "order",
                            () -> assertThat(isHeld(client, "integration/order"))
                                    .isTrue());
            assertThat(isHeld(client, "integration/order")).isFalse();
        });
    }

    private static boolean isHeld(LockClient client, String name) {
        return !client.named(name).status().join().holders().isEmpty();
    }

    @Test
    void thePrefixIsAProperty() {
        for (String prefix : new String[] {"flows/", ""}) {
            application
                    .withPropertyValues(URL, "mortise.integration.prefix=" + prefix)
                    .run(context -> {
                        LockClient client = context.getBean(LockClient.class);
                        context.getBean(MortiseLockRegistry.class)
                                .executeLocked(
                                        "order",
                                        () -> assertThat(isHeld(client, prefix + "order"))
                                                .isTrue());
                    });
        }
    }

    @Test
    void theRegistryOfTheApplicationReplacesIt() {
        application
                .withPropertyValues(URL)
                .withBean(DefaultLockRegistry.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(LockRegistry.class)
                        .doesNotHaveBean(MortiseLockRegistry.class));
    }

    @Test
    void anOwnClientServes() {
        application
                .withBean("own", LockClient.class, () -> Locks.connect("memory:boot-registry-own"))
                .run(context -> assertThat(context).hasSingleBean(MortiseLockRegistry.class));
    }

    @Test
    void thereIsNoRegistryWithoutOneClientToChoose() {
        application
                .withBean("one", LockClient.class, () -> Locks.connect("memory:boot-registry-one"))
                .withBean("two", LockClient.class, () -> Locks.connect("memory:boot-registry-two"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockRegistryAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
    }

    @Test
    void thereIsNoRegistryWithoutTheModuleOrSpringIntegration() {
        for (Class<?> missing : new Class<?>[] {MortiseLockRegistry.class, LockRegistry.class}) {
            application
                    .withPropertyValues(URL)
                    .withClassLoader(new FilteredClassLoader(missing))
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .hasSingleBean(LockClient.class)
                            .doesNotHaveBean("mortiseLockRegistry"));
        }
    }
}
