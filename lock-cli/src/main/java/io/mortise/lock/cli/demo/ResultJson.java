// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** The result for programs: one JSON object on one line. */
final class ResultJson {
    private ResultJson() {}

    static String of(Result result) {
        return new StringJoiner(",", "{", "}")
                .add("\"ok\":" + result.ok())
                .add("\"failures\":" + strings(result.failures()))
                .add("\"url\":" + string(result.url()))
                .add("\"workers\":" + result.workers())
                .add("\"items\":" + result.items())
                .add("\"withoutLock\":{" + counts(result.without()) + "}")
                .add("\"withLock\":{" + counts(result.with())
                        + ",\"handOffs\":" + result.with().stock().handOffs()
                        + ",\"refused\":" + result.with().stock().refused()
                        + ",\"tokensInOrder\":" + result.with().tokensInOrder() + "}")
                .add("\"killed\":{" + drill(result.kill()) + ",\"token\":"
                        + result.kill().token() + ",\"nextToken\":"
                        + result.kill().nextToken() + "}")
                .add("\"frozen\":{" + drill(result.frozen()) + ",\"token\":"
                        + result.frozen().token()
                        + ",\"nextToken\":" + result.frozen().nextToken()
                        + ",\"lateWriteRefused\":" + result.frozen().refused()
                        + ",\"isHeldAfterwards\":" + result.frozen().believed() + "}")
                .add("\"millis\":" + result.took().toMillis())
                .toString();
    }

    private static String counts(Run run) {
        return "\"sales\":" + run.sold() + ",\"stockRemoved\":" + run.removed() + ",\"lost\":" + run.lost();
    }

    private static String drill(Drill drill) {
        return "\"recoveryMillis\":" + drill.recovery().toMillis();
    }

    private static String strings(List<String> texts) {
        StringJoiner out = new StringJoiner(",", "[", "]");
        texts.forEach(text -> out.add(string(text)));
        return out.toString();
    }

    static String string(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                // ASCII only: the reader need not know what encoding our output has.
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
