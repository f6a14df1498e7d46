// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the order service, an application with Spring Boot, builds as a user builds it, with Spring Boot's choice of
 * libraries, and passes its own tests: two instances, of which one is killed.
 */
@Tag("once")
@Tag("long")
@Timeout(540)
class SpringBootProjectTest {
    private static final Path ROOT = Path.of(System.getProperty("mortise.root"));

    @Test
    void theOrderServicePassesItsTests(@TempDir Path directory) throws Exception {
        ConsumerBuild build = ConsumerBuild.stage(directory);
        Path project =
                ConsumerBuild.copy(ROOT.resolve("lock-examples/order-service"), directory.resolve("order-service"));
        assertThat(project.resolve("pom.xml"))
                .content()
                .as("the version of this build")
                .contains("<mortise.version>" + ConsumerBuild.VERSION + "</mortise.version>");
        build.runMaven(project, "verify");
        assertThat(ConsumerBuild.testsRun(project, "example.orders.OrderServiceTest"))
                .isEqualTo(2);
    }
}
