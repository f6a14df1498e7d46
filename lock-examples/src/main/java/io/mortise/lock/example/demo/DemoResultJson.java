// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Formats the demo's result as a one-line JSON object for scripts. */
final class DemoResultJson {
    private DemoResultJson() {}

    static String of(OverallDemoResult result) throws IOException {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("ok", result.ok());
        json.put("failures", result.failures());
        json.put("url", result.url());
        json.put("workers", result.workers());
        json.put("items", result.items());
        json.put("withoutLock", counts(result.without()));
        Map<String, Object> with = counts(result.with());
        with.put("handOffs", result.with().handOffs());
        with.put("refused", result.with().refused());
        with.put("tokensInOrder", result.with().tokensInOrder());
        json.put("withLock", with);
        FaultDrillResult.Kill kill = result.kill();
        json.put("killed", drill(kill, kill.token(), kill.nextToken()));
        FaultDrillResult.Frozen frozen = result.frozen();
        Map<String, Object> freeze = drill(frozen, frozen.token(), frozen.nextToken());
        freeze.put("lateWriteRefused", frozen.refused());
        freeze.put("isHeldAfterwards", frozen.heldAfterwards());
        json.put("frozen", freeze);
        json.put("millis", result.took().toMillis());
        return JSON.std.asString(json);
    }

    private static Map<String, Object> counts(DemoRunResult run) {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("sales", run.sold());
        counts.put("stockRemoved", run.removed());
        counts.put("lost", run.lost());
        return counts;
    }

    private static Map<String, Object> drill(FaultDrillResult drill, long token, long nextToken) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("recoveryMillis", drill.recovery().toMillis());
        fields.put("token", token);
        fields.put("nextToken", nextToken);
        return fields;
    }
}
