// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.EnableLocking;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.ResponseEntity;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests that locked methods work without further configuration. */
class LockingAutoConfigurationTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockClientAutoConfiguration.class, LockingAutoConfiguration.class))
            .withPropertyValues("mortise.url=memory:boot-locking");

    static class Worker {
        @Locked(name = "work")
        public String work() {
            return CurrentLease.get("work").ownerId();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocking(order = 17)
    static class OwnOrder {}

    @Test
    void lockedMethodsAreLocked() {
        application.withBean(Worker.class).run(context -> {
            assertThat(context.getBean(Worker.class).work()).isNotEmpty();
            assertThat(((Ordered) context.getBean("mortiseLockedAdvisor", Advisor.class)).getOrder())
                    .isEqualTo(EnableLocking.DEFAULT_ORDER);
        });
    }

    @Test
    void theOrderOfTheApplicationIsKept() {
        application.withUserConfiguration(OwnOrder.class).withBean(Worker.class).run(context -> {
            assertThat(context.getBean(Worker.class).work()).isNotEmpty();
            assertThat(((Ordered) context.getBean("mortiseLockedAdvisor", Advisor.class)).getOrder())
                    .isEqualTo(17);
        });
    }

    static class StreamingLater {
        @Locked(name = "work")
        public CompletableFuture<ResponseEntity<StreamingResponseBody>> work() {
            return new CompletableFuture<>();
        }
    }

    static class PublisherLater {
        @Locked(name = "work")
        public Mono<ResponseEntity<Flux<String>>> work() {
            return Mono.empty();
        }
    }

    /** Here because lock-spring has no spring-web. */
    @ParameterizedTest
    @ValueSource(classes = {StreamingLater.class, PublisherLater.class})
    void S14_aResponseThatIsWrittenAfterTheReleaseStopsTheStart(Class<?> bean) {
        application
                .withBean(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageStartingWith("@Locked on " + bean.getSimpleName() + ".work: the work of a "));
    }

    @Test
    void thereIsNoTemplateWithoutAClient() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockingAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean(LockTemplate.class));
    }
}
