// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import io.mortise.lock.cli.invocation.JsonText;
import java.util.LinkedHashMap;
import java.util.Map;

/** The result as one JSON object on one line, for scripts. */
final class ResultJson {
    private ResultJson() {}

    static String of(Result result) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("ok", result.ok());
        json.put("failures", result.failures());
        json.put("url", result.url());
        json.put("workers", result.workers());
        json.put("items", result.items());
        json.put("withoutLock", counts(result.without()));
        Map<String, Object> with = counts(result.with());
        with.put("handOffs", result.with().stock().handOffs());
        with.put("refused", result.with().stock().refused());
        with.put("tokensInOrder", result.with().tokensInOrder());
        json.put("withLock", with);
        Drill.Kill kill = result.kill();
        json.put("killed", drill(kill, kill.token(), kill.nextToken()));
        Drill.Frozen frozen = result.frozen();
        Map<String, Object> freeze = drill(frozen, frozen.token(), frozen.nextToken());
        freeze.put("lateWriteRefused", frozen.refused());
        freeze.put("isHeldAfterwards", frozen.believed());
        json.put("frozen", freeze);
        json.put("millis", result.took().toMillis());
        return JsonText.of(json);
    }

    private static Map<String, Object> counts(Run run) {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("sales", run.sold());
        counts.put("stockRemoved", run.removed());
        counts.put("lost", run.lost());
        return counts;
    }

    private static Map<String, Object> drill(Drill drill, long token, long nextToken) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("recoveryMillis", drill.recovery().toMillis());
        figures.put("token", token);
        figures.put("nextToken", nextToken);
        return figures;
    }
}
