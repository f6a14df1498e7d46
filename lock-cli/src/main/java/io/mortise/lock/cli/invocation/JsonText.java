// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.util.Map;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.jr.ob.JSON;

/** Writes one JSON object on one line. */
public final class JsonText {
    // ASCII only: the reader need not know what encoding our output has.
    private static final JSON ASCII = JSON.builder(JsonFactory.builder()
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .build())
            .build();

    private JsonText() {}

    /** Of texts, numbers, booleans, lists and maps of them; in the map's order. */
    public static String of(Map<String, ?> object) {
        return ASCII.asString(object).replace("\u007f", "\\u007f"); // only texts have it, and a terminal may act on it
    }
}
