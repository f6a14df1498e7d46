// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.test.util.AopTestUtils;

/** Tests that a test can replace beans with locked methods: mocks and other replacements are not locked, spies are. */
@SpringJUnitConfig
class BeanOverrideTest {
    @Configuration(proxyBeanMethods = false)
    @EnableLocking
    @Import({Mocked.class, Spied.class, Replaced.class})
    static class Application {
        @Bean
        LockClient locks() {
            return Locks.connect("memory:" + UUID.randomUUID());
        }
    }

    static class Mocked {
        @Locked(name = "'mocked/' + #id")
        public String call(String id) {
            return id;
        }
    }

    static class Absent {
        @Locked(name = "absent-${this.property.is.missing}")
        public String call() {
            return "real";
        }
    }

    static class Spied {
        @Locked(name = "'spied/' + #id")
        public boolean call(String id) {
            return CurrentLease.get("spied/" + id).isHeld();
        }
    }

    static class Replaced {
        @Locked(name = "'replaced/' + #id")
        public long call(String id) {
            return CurrentLease.fencingToken();
        }
    }

    @MockitoBean
    private Mocked mocked;

    /** The context has no such bean, and would not start with it. */
    @MockitoBean
    private Absent absent;

    @MockitoSpyBean
    private Spied spied;

    @TestBean
    @SuppressWarnings("NullAway.Init") // Spring sets it
    private Replaced replaced;

    static Replaced replaced() {
        return new Replaced();
    }

    @Test
    void aMockIsNotLocked() {
        when(mocked.call("a")).thenAnswer(call -> isLocked() ? "locked" : "free");
        assertThat(mocked.call("a")).isEqualTo("free");
        when(absent.call()).thenReturn("mock");
        assertThat(absent.call()).isEqualTo("mock");
    }

    @Test
    void aReplacementIsNotLocked() {
        assertThatThrownBy(() -> replaced.call("a")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSpyIsLocked() {
        assertThat(spied.call("a")).isTrue();
        verify(spied).call("a");
    }

    /** The target behind the proxy is stubbed: on the proxy a matcher's null would be part of the lock's name. */
    @Test
    void aSpyCanBeStubbed() {
        Spied target = AopTestUtils.getUltimateTargetObject(spied);
        doAnswer(call -> !isLocked()).when(target).call(any());
        assertThat(spied.call("b")).isFalse();
    }

    private static boolean isLocked() {
        return HeldLock.current(null).isPresent();
    }
}
