// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Base class for tests of single Lua scripts, with a voting master without locks before each test. */
abstract class RedlockScriptTest {
    static RedlockScriptBench bench;

    @BeforeAll
    static void start() {
        bench = new RedlockScriptBench();
    }

    @AfterAll
    static void stop() {
        bench.close();
    }

    @BeforeEach
    final void leaveQuarantine() {
        bench.leaveQuarantine();
    }

    @AfterEach
    final void clear() {
        bench.redis().call("CONFIG", "SET", "maxmemory", "0");
        bench.clear();
    }
}
