// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Scripts alone, on one server a class, empty before each test. */
abstract class RedisScriptTest {
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
