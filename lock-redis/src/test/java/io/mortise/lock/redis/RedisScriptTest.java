// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Scripts alone, on one server a class, empty before each test. */
abstract class RedisScriptTest {
    static ScriptBench bench;

    @BeforeAll
    static void start() {
        bench = new ScriptBench();
    }

    @AfterAll
    static void stop() {
        bench.close();
    }

    @AfterEach
    final void clear() {
        bench.clear();
    }
}
