// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DiscoveryTest {
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
        return Discovery.connect(url, ClientOptions.defaults(), List.of(required), List.of(new One(), new Two()));
    }

    @Test
    void opensAndHonoursTheChoice() {
        connect("one://h?size=1", Capability.FENCING).close();
        connect("both://h?provider=" + Two.class.getName()).close();
    }

    @Test
    void absenceNamesTheArtifactAndWhatWasFound() {
        assertThatThrownBy(() -> connect("zookeeper://h"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("io.mortise:lock-zookeeper")
                .hasMessageContaining(One.class.getName());
        assertThatThrownBy(() -> connect("nobody://h")).hasMessageContaining("nobody");
    }

    @Test
    void twoForOneSchemeAreBothNamedWithTheirOrigin() {
        assertThatThrownBy(() -> connect("both://h"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(One.class.getName())
                .hasMessageContaining(Two.class.getName())
                .hasMessageContaining("test-classes")
                .hasMessageContaining("?provider=");
        assertThatThrownBy(() -> connect("both://h?provider=Three")).hasMessageContaining("Three");
    }

    @Test
    void S14_anUnknownParameterIsRefusedBeforeAnythingIsOpened() {
        assertThatThrownBy(() -> connect("one://u:s3crt@h?sise=1"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("sise")
                .hasMessageContaining("size")
                .hasMessageNotContaining("s3crt");
    }

    @Test
    void aMissingCapabilityClosesTheClientAndSaysWhichItHas() {
        assertThatThrownBy(() -> connect("one://h", Capability.FAIR, Capability.FENCING))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("[FAIR]")
                .hasMessageContaining("FENCING");
        assertThat(Discovery.found()).isEmpty();
    }
}
