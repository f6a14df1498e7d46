// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.core.client.MapStore;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how a provider is found for a URL, and the messages if there is none or more than one. */
public class ProviderDiscoveryTest {
    public ProviderDiscoveryTest() {}

    private static class One implements LockProvider {
        @Override
        public Set<String> schemes() {
            return Set.of("one", "both");
        }

        @Override
        public Set<String> parameters() {
            return Set.of("size");
        }

        @Override
        public LockBackend open(LockUrl url, BackendContext context) {
            return new LeaseStoreBackend(new MapStore(context.clock()), context);
        }
    }

    private static final class Two extends One {
        @Override
        public Set<String> schemes() {
            return Set.of("both");
        }
    }

    private static LockClient connect(String url, Capability... required) {
        return ProviderDiscovery.connect(
                url, ClientOptions.defaults(), List.of(required), List.of(new One(), new Two()), Set.of());
    }

    @Test
    void opensTheProviderThatTheUrlSelects() {
        connect("one://h?size=1", Capability.FENCING).close();
        connect("both://h?provider=" + Two.class.getName()).close();
    }

    @Test
    void aMissingProviderIsReportedWithItsArtifactAndTheSchemesFound() {
        assertThatThrownBy(() -> connect("zookeeper://h"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("io.mortise:lock-zookeeper")
                .hasMessageContaining("found [both, one]");
        assertThatThrownBy(() -> connect("nobody://h")).hasMessageContaining("nobody");
    }

    @ParameterizedTest
    @CsvSource({"rdis, redis", "rediss-clster, rediss-cluster", "zookeper, zookeeper", "etc, etcd", "memry, memory"})
    void S14_aTypoInTheSchemeGetsAShortMessageWithASuggestion(String typo, String meant) {
        assertThatThrownBy(() -> connect(typo + "://h"))
                .hasMessageContaining("did you mean " + meant + "?")
                .message()
                .hasSizeLessThan(150);
    }

    @ParameterizedTest
    @CsvSource({
        "zk://h:2181, zookeeper",
        "http://h:2379, etcd",
        "https://h:2379, etcds",
        "valkey://h, redis",
        "redis+sentinel://h, redis-sentinel"
    })
    void S14_anotherToolsSchemeGetsASuggestion(String url, String meant) {
        assertThatThrownBy(() -> connect(url)).hasMessageContaining("did you mean " + meant + "?; found [both, one]");
    }

    @Test
    void S14_aSchemeWithoutABackendGetsTheKnownOnes() {
        assertThatThrownBy(() -> connect("mysql://h"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessage(
                        "no provider for scheme \"mysql\": use a scheme that was found, or add another backend to the"
                                + " class path; found [both, one]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "localhost:6379 | redis://localhost:6379?",
                "zoo1.example.com:2181/base | zookeeper://zoo1.example.com:2181…?",
                "node1:2379,node2:2379 | etcd://node1:2379…?",
                "node1:26379 | redis-sentinel://node1:26379?"
            })
    void S14_anAddressWithoutASchemeGetsASuggestion(String address, String meant) {
        assertThatThrownBy(() -> connect(address))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("a URL begins with a scheme, did you mean " + meant);
    }

    @ParameterizedTest
    @CsvSource({
        "memory:m, memory",
        "rediss-cluster://h, redis",
        "redis-socket:///path, redis",
        "redlock://h, redlock",
        "redlocks://h, redlock",
        "etcds://h, etcd"
    })
    void theArtifactOfEachSchemeIsKnown(String url, String artifact) {
        assertThatThrownBy(() -> connect(url)).hasMessageContaining("add io.mortise:lock-" + artifact + " ");
    }

    @Test
    void twoProvidersOfOneSchemeAreBothNamedWithTheirLocation() {
        assertThatThrownBy(() -> connect("both://h"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(One.class.getName())
                .hasMessageContaining(Two.class.getName())
                .hasMessageContaining("test-classes")
                .hasMessageContaining("?provider=");
        assertThatThrownBy(() -> connect("both://h?provider=Three")).hasMessageContaining("Three");
    }

    @Test
    void S14_anUnknownParameterIsRejectedBeforeTheBackendIsOpened() {
        assertThatThrownBy(() -> connect("one://u:s3crt@h?sise=1"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("sise")
                .hasMessageContaining("size")
                .hasMessageNotContaining("s3crt");
    }

    @Test
    void aMissingCapabilityClosesTheClientAndNamesThoseOffered() {
        assertThatThrownBy(() -> connect("one://h", Capability.FAIR, Capability.FENCING))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("[FAIR]")
                .hasMessageContaining("FENCING");
        assertThat(ProviderDiscovery.found()).isEmpty();
    }

    /** A class that is listed as a provider, but does not implement the interface. */
    public static final class Alien {
        public Alien() {}
    }

    /** A provider that the class loader below finds; it opens no backend. */
    public static final class Found implements LockProvider {
        public Found() {}

        @Override
        public Set<String> schemes() {
            return Set.of("found");
        }

        @Override
        public Set<String> parameters() {
            return Set.of();
        }

        @Override
        public LockBackend open(LockUrl url, BackendContext context) {
            throw new LockConfigurationException("opened");
        }
    }

    @Test
    void S14_aBrokenProviderIsSkippedAndNamedOnlyIfItsSchemeMayBeMissing(@TempDir Path dir) throws Exception {
        Path services = Files.createDirectories(dir.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(LockProvider.class.getName()),
                "no.such.Provider\n" + Alien.class.getName() + "\n" + Found.class.getName() + "\n");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // Defines its own copy of the provider, outside any named module.
        try (URLClassLoader loader = new URLClassLoader(new URL[] {dir.toUri().toURL()}, before) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.equals(Found.class.getName()) && !name.equals(Alien.class.getName())) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try (InputStream in = ProviderDiscoveryTest.class.getResourceAsStream(
                        name.substring(name.lastIndexOf('.') + 1) + ".class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }) {
            thread.setContextClassLoader(loader);
            assertThat(ProviderDiscovery.found())
                    .containsExactly(new Locks.ProviderInfo("found", Found.class.getName()));
            assertThatThrownBy(() -> ProviderDiscovery.connect("found:x", ClientOptions.defaults(), List.of()))
                    .hasMessage("opened");
            assertThatThrownBy(() -> ProviderDiscovery.connect("lost:x", ClientOptions.defaults(), List.of()))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("could not be loaded")
                    .hasMessageContaining("no.such.Provider")
                    .hasMessageContaining(Alien.class.getName() + " not a subtype");
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
