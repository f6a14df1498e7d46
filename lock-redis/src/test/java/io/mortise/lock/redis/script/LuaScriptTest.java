// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LuaScriptTest {
    private static @Nullable InputStream own(String file) {
        return file.equals("mine.lua") ? new ByteArrayInputStream("return 1\n".getBytes(StandardCharsets.UTF_8)) : null;
    }

    @Test
    void aScriptConsistsOfFilesOfTheBackendAndSharedOnes() {
        LuaScript script = LuaScript.of(LuaScriptTest::own, "shared/keys", "mine");
        assertThat(script.text()).contains("= unpack(KEYS)").endsWith("return 1\n");
        assertThat(LuaScript.of(LuaScriptTest::own, "mine").sha1())
                .as("printf 'return 1\\n' | sha1sum")
                .isEqualTo("48df9b519ca145c867b895f740b37bd891e887af");
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatThrownBy(() -> LuaScript.of(LuaScriptTest::own, "keys"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("keys.lua");
        assertThatThrownBy(() -> LuaScript.of(LuaScriptTest::own, "shared/mine"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("shared/mine.lua");
    }
}
