// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The version of a library on the class path, from what Maven leaves in its jar. */
final class Versions {
    private Versions() {}

    /** {@code unknown} if the jar does not tell. */
    static String of(String groupId, String artifactId) {
        String file = "/META-INF/maven/" + groupId + "/" + artifactId + "/pom.properties";
        Properties properties = new Properties();
        try (InputStream in = Versions.class.getResourceAsStream(file)) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            return "unknown";
        }
        return properties.getProperty("version", "unknown");
    }
}
