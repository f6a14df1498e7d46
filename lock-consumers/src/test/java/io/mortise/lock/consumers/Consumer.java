// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A user's project: no parent, the BOM, and the artifacts of some backends.
 *
 * @param managedBy another BOM that the project imports before ours, as {@code group:artifact:version}
 */
record Consumer(String name, Optional<String> managedBy, List<String> backends) {
    static Consumer of(String... backends) {
        return new Consumer(String.join("-", backends), Optional.empty(), List.of(backends));
    }

    static Consumer managedBy(String bom, String... backends) {
        return new Consumer("managed-" + String.join("-", backends), Optional.of(bom), List.of(backends));
    }

    String pom(String version) {
        String imports = managedBy.map(Consumer::imported).orElse("") + imported("io.mortise:lock-bom:" + version);
        String dependencies = backends.stream()
                .map(backend -> "<dependency><groupId>io.mortise</groupId><artifactId>lock-" + backend
                        + "</artifactId></dependency>")
                .collect(Collectors.joining());
        return project(name, "jar")
                + "<dependencyManagement><dependencies>" + imports + "</dependencies></dependencyManagement>"
                + "<dependencies>" + dependencies + "</dependencies></project>";
    }

    /** One project that builds all of these, and tells them nothing. */
    static String aggregator(List<Consumer> all) {
        return project("consumers", "pom")
                + all.stream()
                        .map(each -> "<module>" + each.name + "</module>")
                        .collect(Collectors.joining("", "<modules>", "</modules>"))
                + "</project>";
    }

    private static String project(String name, String packaging) {
        return "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>"
                + name + "</artifactId><version>1</version><packaging>" + packaging + "</packaging>";
    }

    private static String imported(String bom) {
        String[] parts = bom.split(":", -1);
        return "<dependency><groupId>" + parts[0] + "</groupId><artifactId>" + parts[1] + "</artifactId><version>"
                + parts[2] + "</version><type>pom</type><scope>import</scope></dependency>";
    }

    @Override
    public String toString() {
        return name;
    }
}
