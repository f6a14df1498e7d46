// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the choice between a program and a container with stand-ins for both; {@link ServerContainerTest} has real ones. */
class ServerSourceTest {
    private static final String STORE = "source-test";
    private static final String BINARY = "mortise.test." + STORE + ".binary";
    private static final String REDIS_BINARY = "mortise.test.redis.binary";
    private static final String IMAGE = "mortise.test." + STORE + ".image";

    private static Path noProgram() {
        throw new IllegalStateException("No x on the PATH");
    }

    @AfterEach
    void clearProperties() {
        List.of(BINARY, IMAGE, REDIS_BINARY).forEach(System::clearProperty);
    }

    @Test
    void aProgramIsTaken_andNoEngineIsAsked() {
        ServerSource source = ServerSource.choose(STORE, "x:1", () -> Path.of("/bin/x"), () -> {
            throw new AssertionError("asked");
        });
        assertThat(source).isEqualTo(new ServerSource.Program(Path.of("/bin/x")));
    }

    @Test
    void withoutAProgram_aContainerIsTaken() {
        assertThat(ServerSource.choose(STORE, "x:1", ServerSourceTest::noProgram, Optional::empty))
                .isEqualTo(new ServerSource.Image("x:1"));
    }

    @Test
    void aSettingNamesAnotherImage() {
        System.setProperty(IMAGE, "y:2");
        assertThat(ServerSource.choose(STORE, "x:1", ServerSourceTest::noProgram, Optional::empty))
                .isEqualTo(new ServerSource.Image("y:2"));
    }

    @Test
    void aConfiguredProgramThatIsMissing_isAnError_notAContainer() {
        System.setProperty(BINARY, "mistyped");
        assertThatThrownBy(() -> ServerSource.choose(STORE, "x:1", ServerSourceTest::noProgram, Optional::empty))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("No x on the PATH");
    }

    @Test
    void withNeither_theErrorNamesAllWays() {
        System.setProperty(REDIS_BINARY, "no-such-server");
        assertThatThrownBy(
                        () -> ServerSource.choose(STORE, "x:1", ServerBinary::redis, () -> Optional.of("start Docker")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("No no-such-server on the PATH: install it")
                .hasMessageContaining("a running server with -Dmortise.test.redis=redis://HOST:PORT")
                .hasMessageEndingWith("or have a container of x:1 started: start Docker")
                .hasMessageNotContaining("\n");
    }
}
