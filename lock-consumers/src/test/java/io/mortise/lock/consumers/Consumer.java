// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A user's project: no parent, and the artifacts of some backends.
 *
 * @param boms that the project imports, in this order, as {@code group:artifact:version}
 * @param own dependencies, named before ours
 */
record Consumer(String name, List<String> boms, List<String> own, List<String> backends) {
    private static final String OURS = "io.mortise:lock-bom:" + StagedBuild.VERSION;

    /** As the README says it. */
    static Consumer of(String... backends) {
        return new Consumer(String.join("-", backends), List.of(OURS), List.of(), List.of(backends));
    }

    static Consumer withoutBom(String... backends) {
        return new Consumer("bare-" + String.join("-", backends), List.of(), List.of(), List.of(backends));
    }

    Consumer managedBy(String bom) {
        List<String> all = new ArrayList<>(List.of(bom));
        all.addAll(boms);
        return new Consumer("managed-" + name, List.copyOf(all), own, backends);
    }

    Consumer behind(String dependency) {
        return new Consumer(name + "-behind-" + dependency.split(":", -1)[1], boms, List.of(dependency), backends);
    }

    String pom() {
        String imports = boms.stream()
                .map(bom -> dependency(bom, "<type>pom</type><scope>import</scope>"))
                .collect(Collectors.joining());
        String version = boms.contains(OURS) ? "" : ":" + StagedBuild.VERSION;
        String dependencies = Stream.concat(
                        own.stream(), backends.stream().map(backend -> "io.mortise:lock-" + backend + version))
                .map(each -> dependency(each, ""))
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

    private static String dependency(String coordinates, String more) {
        String[] parts = coordinates.split(":", -1);
        return "<dependency><groupId>" + parts[0] + "</groupId><artifactId>" + parts[1] + "</artifactId>"
                + (parts.length < 3 ? "" : "<version>" + parts[2] + "</version>") + more + "</dependency>";
    }

    @Override
    public String toString() {
        return name;
    }
}
