// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.connect.Locks;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** Registers the providers and scripts of the backends on the class path for native images. */
final class LockRuntimeHints implements RuntimeHintsRegistrar {
    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("META-INF/services/io.mortise.lock.spi.LockProvider")
                .registerPattern("io/mortise/lock/**/*.lua");
        hints.reflection().registerTypeIfPresent(classLoader, LockingAutoConfiguration.QUARTZ);
        for (Locks.ProviderInfo provider : Locks.providers()) {
            hints.reflection()
                    .registerType(
                            TypeReference.of(provider.providerClass()), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
        }
    }
}
