// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A user's Maven project without a parent POM, which depends on some of Mortise's backends.
 *
 * @param boms the BOMs that the project imports, in this order, as {@code group:artifact:version}
 * @param otherDependencies the dependencies that the POM lists before those on Mortise, as {@code group:artifact:version}
 * @param backends the names of the backends, as in {@code lock-NAME}
 */
record Consumer(String name, List<String> boms, List<String> otherDependencies, List<String> backends) {
    private static final String MORTISE_BOM = "io.mortise:lock-bom:" + ConsumerBuild.VERSION;

    /** Returns a project that imports Mortise's BOM, as the README describes. */
    static Consumer of(String... backends) {
        return new Consumer(String.join("-", backends), List.of(MORTISE_BOM), List.of(), List.of(backends));
    }

    static Consumer withoutBom(String... backends) {
        return new Consumer("no-bom-" + String.join("-", backends), List.of(), List.of(), List.of(backends));
    }

    /** Returns this project with another BOM, which is imported first. */
    Consumer managedBy(String bom) {
        List<String> all = new ArrayList<>(List.of(bom));
        all.addAll(boms);
        return new Consumer("managed-" + name, List.copyOf(all), otherDependencies, backends);
    }

    /** Returns this project with another dependency, which is listed first. */
    Consumer behind(String dependency) {
        return new Consumer(name + "-behind-" + dependency.split(":", -1)[1], boms, List.of(dependency), backends);
    }

    String pom() {
        String imports = boms.stream()
                .map(bom -> dependency(bom, "<type>pom</type><scope>import</scope>"))
                .collect(Collectors.joining());
        String version = boms.contains(MORTISE_BOM) ? "" : ":" + ConsumerBuild.VERSION;
        String dependencies = Stream.concat(
                        otherDependencies.stream(),
                        backends.stream().map(backend -> "io.mortise:lock-" + backend + version))
                .map(each -> dependency(each, ""))
                .collect(Collectors.joining());
        return project(name, "jar")
                + "<dependencyManagement><dependencies>" + imports + "</dependencies></dependencyManagement>"
                + "<dependencies>" + dependencies + "</dependencies></project>";
    }

    /** Returns the POM of a project that builds all of these as modules, which do not inherit from it. */
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
