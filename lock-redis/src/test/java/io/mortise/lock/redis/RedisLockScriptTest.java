// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Base of tests that call scripts directly on one server for each class, which is emptied after each test. */
abstract class RedisLockScriptTest {
    static ScriptFixture fixture;

    @BeforeAll
    static void start() {
        fixture = new ScriptFixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @AfterEach
    final void clear() {
        fixture.clear();
    }
}
