// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockName;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdKeyLayoutTest {
    private final EtcdKeyLayout keys = new EtcdKeyLayout("a/");

    @ParameterizedTest
    @ValueSource(strings = {"x", "inventory/42", "%session", "%session/1", "%", "a b", "…", "A.b-c_d:e@f+g~h", "//"})
    void S13_theLockNameIsReadFromAKey(String name) {
        String contenders = keys.contenderPrefix(new LockName(name));
        assertThat(keys.lockName(contenders + "1f")).hasValue(name);
        assertThat(keys.lockName(contenders + "1f-3")).hasValue(name);
        assertThat(keys.lockName("b" + contenders)).isEmpty();
    }

    @Test
    void S13_simpleNamesStayReadableAndDifferentNamesNeverCollide() {
        assertThat(keys.contenderPrefix(new LockName("inventory"))).isEqualTo("a/inventory/");
        assertThat(keys.contenderPrefix(new LockName("inventory/42"))).isEqualTo("a/inventory%2F42/");
    }

    @Test
    void S13_noLockCollidesWithASession() {
        String session = keys.sessionKey(31).toString();
        assertThat(session).isEqualTo("a/%session/1f");
        assertThat(keys.lockName(session)).isEmpty();
    }

    @Test
    void eachSlotHasItsOwnKey() {
        assertThat(EtcdKeyLayout.contenderKey("a/x/", 31, 0, 0)).hasToString("a/x/1f");
        assertThat(EtcdKeyLayout.contenderKey("a/x/", 31, 2, 0)).hasToString("a/x/1f-2");
        assertThat(EtcdKeyLayout.contenderKey("a/x/", -1, 0, 0)).hasToString("a/x/ffffffffffffffff");
        assertThat(EtcdKeyLayout.contenderKey("a/x/", 31, 0, 1)).hasToString("a/x/1f-0.1");
        assertThat(EtcdKeyLayout.contenderKey("a/x/", 31, 2, 1)).hasToString("a/x/1f-2.1");
    }

    @Test
    void theNamespaceMayBeEmpty() {
        EtcdKeyLayout withoutNamespace = new EtcdKeyLayout("");
        assertThat(withoutNamespace.contenderPrefix(new LockName("x"))).isEqualTo("x/");
        assertThat(withoutNamespace.lockName("x/1")).isEqualTo(Optional.of("x"));
        assertThat(withoutNamespace.lockName("x")).isEmpty();
        assertThat(withoutNamespace.first().getBytes()).containsExactly(0);
        assertThat(withoutNamespace.end().getBytes()).as("all there is").containsExactly(0);
    }
}
