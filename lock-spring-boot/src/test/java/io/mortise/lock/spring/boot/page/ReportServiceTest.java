// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@SpringBootTest(properties = "mortise.url=memory:reports")
class ReportServiceTest {
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(ReportService.class)
    static class Application {}

    @Test
    void tokensIncrease(@Autowired ReportService reports) {
        long first = reports.write("a");
        assertThat(reports.write("a")).isGreaterThan(first);
    }
}
