// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.util.Map;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.jr.ob.JSON;

/** Formats one JSON object as a single line of ASCII text. */
public final class JsonFormatter {
    // ASCII only, so that the output does not depend on the encoding.
    private static final JSON ASCII = JSON.builder(JsonFactory.builder()
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .build())
            .build();

    private JsonFormatter() {}

    /**
     * Returns the JSON text of an object, in the order of the map.
     *
     * @param object strings, numbers, booleans, and lists and maps of these
     */
    public static String of(Map<String, ?> object) {
        return ASCII.asString(object)
                .replace("\u007f", "\\u007f"); // occurs only in strings, and a terminal may act on it
    }
}
